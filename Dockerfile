# CHARM with everything it needs; runs the quickstart. On a CPU:
#
#     docker build -t charm .
#     docker run --rm -v "$PWD/runs:/work/runs" charm
#
# With CUDA (torch's ordinary build brings its own CUDA libraries; the host needs NVIDIA's driver and container toolkit):
#
#     docker build -t charm:cuda --build-arg TORCH_INDEX= .
#     docker run --rm --gpus all -v "$PWD/runs:/work/runs" charm:cuda charm train speedrun
FROM python:3.12-slim

# The wheels of torch without CUDA. Empty: those of PyPI, with CUDA.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

RUN useradd --create-home charm && mkdir -p /work/runs && chown -R charm /work
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY charm charm
COPY rearc2 rearc2
RUN pip install --no-cache-dir ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "torch>=2.11,<2.14" \
    && pip install --no-cache-dir . \
    && rm -rf /src/build
WORKDIR /work
USER charm
CMD ["charm", "quickstart"]
