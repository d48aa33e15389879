/** Setting of the runtime that turns off its just-in-time compiler when it starts. */
const variable = 'BUN_JSC_useJIT'

/** Whether the program runs without the just-in-time compiler. */
export const isWithoutJit = (): boolean => process.env[variable] === '0'

/**
 * Replaces this process with the same program without the just-in-time compiler, which saves a fifth of its memory. Returns only if the
 * system can’t do this.
 */
export function restartWithoutJit(): void {
  const isCompiled = process.argv[1]?.startsWith('/$bunfs/') ?? false
  const { execve } = process as typeof process & { execve?: (file: string, args: string[], env: NodeJS.ProcessEnv) => void }
  execve?.(process.execPath, [process.execPath, ...process.argv.slice(isCompiled ? 2 : 1)], { ...process.env, [variable]: '0' })
}
