"""Files of others."""


def test_private_files_cannot_be_read(target, hostile, tmp_path):
    key = tmp_path / "id_ed25519"
    key.write_text("PRIVATE KEY")
    with target.stays_healthy():
        code, result, err = hostile("read_keys", path=str(key))
    assert (code, result) == (0, {"refused": "Permission denied"}), err
