from os import PathLike
from typing import Any, Iterator, Optional, Union, overload

import numpy

class Table:
    rows: list[dict[str, Any]]
    names: list[str]
    def __init__(self, rows: Any, names: Any = ...) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __contains__(self, name: object) -> bool: ...
    @overload
    def __getitem__(self, key: str) -> numpy.ndarray[Any, Any]: ...
    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice) -> Table: ...
    @property
    def columns(self) -> dict[str, numpy.ndarray[Any, Any]]: ...

class Answer:
    time: str
    dollars: str
    memory: str
    bound_by: str
    sure: str
    interrupted: str
    changes: Optional[list[dict[str, Any]]]

class Memory(dict[str, int]):
    total: int
    capacity: int

class Projection:
    job: str
    result: dict[str, Any]
    plan: str
    instance_type: str
    numerics: str
    stack: str
    instances: int
    cores: int
    slowest_stage: int
    parameters: float
    train_samples_per_second: float
    train_steps_per_second: float
    tokens_per_second: float
    train_runtime: float
    step_seconds: float
    device_step_seconds: float
    host_step_seconds: float
    bubble_seconds: float
    compile_seconds: float
    end_to_end_seconds: float
    steps: float
    samples: float
    dollars: Optional[float]
    price_per_hour: Optional[float]
    model_flops_per_step: float
    job_model_flops: float
    device_mfu_percent: float
    job_mfu_percent: float
    def __getattr__(self, name: str) -> Any: ...  # every figure of `trnsim list figures`, and earlier names
    @property
    def answer(self) -> Answer: ...
    @property
    def memory(self) -> Memory: ...
    @property
    def parts(self) -> Table: ...
    @property
    def stages(self) -> Table: ...
    @property
    def engines(self) -> Table: ...

class Run:
    folder: str
    result: dict[str, Any]
    steps: Table
    def __init__(self, folder: Union[str, PathLike[str]]) -> None: ...
    @property
    def metrics(self) -> Optional[dict[str, Any]]: ...
    @property
    def answer(self) -> Optional[Answer]: ...
    def records(self, by: str = ..., stage: int = ..., limit: int = ...) -> Table: ...
    def summary(self, stage: int = ...) -> Table: ...

class Generation:
    result: dict[str, Any]
    texts: list[str]
    ids: list[list[int]]
    buckets: Table
    memory: Memory
    time_to_first_token_seconds: float
    time_per_output_token_p50_seconds: float
    total_seconds: float
    tokens_per_second: float
