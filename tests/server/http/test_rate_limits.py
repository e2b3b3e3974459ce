from pie_mlx.server.http.rate_limits import ByteRateLimiter


def test_after_a_rest_a_burst_of_bytes_goes_through_at_once():
    rate = ByteRateLimiter(100, burst_seconds=2)
    assert [rate.wait_seconds(50, now=7.0) for _ in range(4)] == [0, 0, 0, 0]


def test_more_bytes_wait_until_the_rate_allows_them():
    rate = ByteRateLimiter(100, burst_seconds=2)
    rate.wait_seconds(200, now=7.0)
    assert [rate.wait_seconds(50, now=7.0) for _ in range(3)] == [0.5, 1.0, 1.5]


def test_a_long_rest_allows_no_more_than_one_burst():
    rate = ByteRateLimiter(100, burst_seconds=2)
    rate.wait_seconds(200, now=7.0)
    assert rate.wait_seconds(250, now=1000.0) == 0.5
