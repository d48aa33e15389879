let own: readonly [string, ...string[]] | null = null

/** Remembers how this program was started. @param args its arguments, without the names of files */
export function rememberOwnProgram(args: readonly string[]): void {
  const isCompiled = process.argv[1]?.startsWith('/$bunfs/') ?? false
  const all = process.argv.slice(isCompiled ? 2 : 1)
  own = [process.execPath, ...all.slice(0, all.length - args.length)]
}

/** The command that starts this program again, without arguments. Null if it is part of another one, such as a test. */
export const ownProgram = (): readonly [string, ...string[]] | null => own
