# CHARM with everything it needs; runs the quickstart. On a CPU:
#
#     docker build -t charm .
#     mkdir -p runs
#     docker run --rm --user "$(id -u)" -v "$PWD/runs:/work/runs" charm
#
# With CUDA (the host needs NVIDIA's driver and container toolkit; torch brings its own CUDA libraries):
#
#     docker build -t charm:cuda --build-arg TORCH_INDEX= .
#     docker run --rm --user "$(id -u)" --gpus all -v "$PWD/runs:/work/runs" charm:cuda charm train speedrun
FROM python:3.12-slim

# The index of torch without CUDA. Empty: PyPI's torch, with CUDA.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

# Triton compiles a small C program when a GPU is first used.
RUN if [ -z "$TORCH_INDEX" ]; then \
        apt-get update && apt-get install --yes --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*; \
    fi
WORKDIR /src
COPY pyproject.toml setup.py README.md LICENSE NOTICE ./
COPY charm charm
COPY rearc2 rearc2
RUN pip install --no-cache-dir ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "torch>=2.11,<2.14" \
    && pip install --no-cache-dir . \
    && rm -rf /src/build
# Any user may run the image: only these two folders are written to.
RUN useradd --create-home charm && mkdir -p /work/runs && chmod -R a+rwX /work /home/charm
ENV HOME=/home/charm USER=charm
WORKDIR /work
USER charm
CMD ["charm", "quickstart"]
