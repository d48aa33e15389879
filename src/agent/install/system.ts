import { RequirementNotMet } from './requirement'

/** Runs a program of the system. @throws RequirementNotMet if it fails */
export function runProgram(name: string, ...args: string[]): void {
  const { exitCode, err } = spawn(name, args)
  if (exitCode !== 0) throw new RequirementNotMet(`${[name, ...args].join(' ')} failed: ${err.trim().split('\n')[0]}`)
}

/** Runs a program of the system that may fail. @returns whether it succeeded */
export const tryProgram = (name: string, ...args: string[]): boolean => spawn(name, args).exitCode === 0

/** What a program of the system prints. Empty if it fails. */
export const outputOf = (name: string, ...args: string[]): string => spawn(name, args).out

function spawn(name: string, args: readonly string[]): { exitCode: number; out: string; err: string } {
  try {
    const { exitCode, stdout, stderr } = Bun.spawnSync([name, ...args], { timeout: 60_000 })
    return { exitCode, out: stdout.toString(), err: stderr.toString() }
  } catch (error) {
    return { exitCode: 127, out: '', err: (error as Error).message }
  }
}

/** @throws RequirementNotMet */
export function requireRoot(command: string): void {
  if (process.getuid?.() !== 0) throw new RequirementNotMet(`Run this as root: sudo bailiwick-agent ${command}`)
}
