# Written for a release by `python -m tools.formula WHEEL URL`, which fills in what stands between @ and @.
class PieMlx < Formula
  desc "Programmable LLM inference on a Mac: programs run beside the model"
  homepage "@HOMEPAGE@"
  url "@URL@", using: :nounzip
  version "@VERSION@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on arch: :arm64
  depends_on macos: :sonoma
  depends_on "python@3.13"

  # Wheels hold finished libraries: Homebrew must not rewrite the paths in them, for which their headers have no room.
  # What is installed here, it no longer looks at. pie is called below opt, which stays when it is upgraded.
  def post_install
    python = Formula["python@3.13"].opt_bin/"python3.13"
    system python, "-m", "venv", "--clear", libexec
    system libexec/"bin/python", "-m", "pip", "install", pkgshare/"@FILE@"
  end

  def install
    pkgshare.install "@FILE@"
    (bin/"pie").write <<~SH
      #!/bin/sh
      exec "#{opt_libexec}/bin/pie" "$@"
    SH
  end

  def caveats
    <<~TEXT
      'pie service install' has an engine run from login on.
      Before 'brew uninstall': 'pie service remove'.
    TEXT
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/pie --version")
    assert_match "mlx-lm", shell_output("#{bin}/pie version")
  end
end
