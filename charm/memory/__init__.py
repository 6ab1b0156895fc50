"""Structured sparse memory for any structured key: factors, composers, row tables, CoSE, and optimizers for rows.

A key is a mapping from field name to integer tensor; a memory turns a batch of keys into vectors.
"""

from charm.memory.composers import COMPOSERS, Add, Composer, Film, FilmAdd, FilmHeads, Hypernetwork, MixtureOfExperts
from charm.memory.cose import CoSE, CoSEConfig, ParameterGroups, TableMemory, grouped_parameters
from charm.memory.factors import Factor, KeyedTable, Lookup, RowTable, SlotPermutation, Sum, factor_parameters
from charm.memory.optimizers import DenseAdamW, RowAdamW, RowSignSGD
from charm.memory.parts import Key, MemoryModule, Rows, dense_parameters, row_parameters

__all__ = ["COMPOSERS", "Add", "Composer", "Film", "FilmAdd", "FilmHeads", "Hypernetwork", "MixtureOfExperts"]
__all__ += ["CoSE", "CoSEConfig", "ParameterGroups", "TableMemory", "grouped_parameters"]
__all__ += ["Factor", "KeyedTable", "Lookup", "RowTable", "SlotPermutation", "Sum", "factor_parameters"]
__all__ += ["DenseAdamW", "RowAdamW", "RowSignSGD"]
__all__ += ["Key", "MemoryModule", "Rows", "dense_parameters", "row_parameters"]
