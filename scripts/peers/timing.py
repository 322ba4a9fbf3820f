"""Times of PyTorch's work on a GPU, in microseconds; README.md says how."""
import statistics

import torch

FLUSH_BYTES = 256 << 20
SPIN_CYCLES = 200_000  # about 0.1 ms, while the host enqueues
SPIN_NAME = "spin_kernel"


def _records(launch, samples):
    """The CUPTI records of each sample: lists of (start, end) in microseconds. A sample lies
    between two spinning kernels, and what flushes the cache before the first."""
    flush = torch.ones(FLUSH_BYTES // 4, device="cuda")
    for _ in range(3):
        launch()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(samples):
            flush.max()
            torch.cuda._sleep(SPIN_CYCLES)
            launch()
            torch.cuda._sleep(0)
        torch.cuda.synchronize()
    events = [event for event in profile.events()
              if event.device_type == torch.autograd.DeviceType.CUDA]
    events.sort(key=lambda event: event.time_range.start)
    found, inside = [], None
    for event in events:
        if SPIN_NAME in event.name:
            if inside is None:
                inside = []
            else:
                found.append(inside)
                inside = None
        elif inside is not None:
            inside.append((event.time_range.start, event.time_range.end))
    if len(found) != samples or not all(found):
        raise RuntimeError(f"{len(found)} samples of {samples} in the profile")
    return found


def kernels_cold(launch, samples=30):
    """From the start of the first kernel to the end of the last, caches cold."""
    return statistics.median(max(end for _, end in sample) - min(start for start, _ in sample)
                             for sample in _records(launch, samples))


def _capture(launch):
    """`launch` as a CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            launch()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch()
    return graph


def _pair(graph, samples):
    """The median of pairs of events around one replay, with the stream kept busy before."""
    times = []
    for _ in range(samples):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(SPIN_CYCLES)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(1e3 * begin.elapsed_time(end))
    return statistics.median(times)


def _overhead(samples):
    one = torch.zeros(1, device="cuda")
    return _pair(_capture(lambda: one.add_(1)), samples) - kernels_cold(lambda: one.add_(1))


def graph_hot(launch, samples=50):
    """One replay of `launch` as a CUDA graph, caches warm from the replay before."""
    graph = _capture(launch)
    for _ in range(5):
        graph.replay()
    return _pair(graph, samples) - _overhead(samples)
