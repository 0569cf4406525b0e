"""The door to the command line: `python -m heedful` is `heedful`."""


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback also while it is being loaded."""
    try:
        from heedful.cli.app import main as run

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
