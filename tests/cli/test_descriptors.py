import resource

from pie_mlx.cli.descriptors import raise_descriptor_limit


def test_the_limit_is_raised_and_never_lowered():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        assert raise_descriptor_limit(300) == min(300, before[1])
        assert raise_descriptor_limit(260) == min(300, before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
