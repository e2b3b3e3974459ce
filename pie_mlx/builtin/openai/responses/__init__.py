"""`POST /v1/responses`, written in terms of a chat request. Nothing is kept between two of them."""
