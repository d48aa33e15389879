import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../../src/cli'
import type { CommandResult } from './binary'

/** Runs a command from source, on SQLite unless `env` sets another database, and without the tests’ own settings. */
export async function runSource(args: string[], env: Record<string, string> = {}, input = ''): Promise<CommandResult> {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('BAILIWICK_'))
  const run = Bun.spawn([process.execPath, 'src/bin/hub.ts', ...args], {
    env: { ...Object.fromEntries(own), ...env },
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 150_000,
  })
  const [out, err, code] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text(), run.exited])
  return { code, out, err }
}

/** Standard error of a backup or a restore, without the progress that it reports if it takes several seconds, as on a busy machine. */
export const withoutProgress = (err: string): string =>
  err.replace(/^(?:(?:Reading|Loading|Extracting) \S+|Compressing): \d+(?: rows| MB|%)\n/gm, '')

/**
 * Runs a command in this process, which saves the second that starting the program from source takes. In the meantime, nothing
 * else may print or read the settings.
 */
export async function runInProcess(args: string[], env: Record<string, string>): Promise<CommandResult> {
  const output = { out: '', err: '' }
  const { stdout, stderr } = process
  const savedEnv = { ...process.env }
  const writes = [stdout.write, stderr.write] as const
  const logs = [console.log, console.error] as const
  const into = (where: 'out' | 'err') => (text: unknown) => {
    output[where] += String(text)
    return true
  }
  for (const name of Object.keys(process.env)) if (name.startsWith('BAILIWICK_')) delete process.env[name]
  Object.assign(process.env, env)
  stdout.write = into('out') as never
  stderr.write = into('err') as never
  console.log = (...texts) => void into('out')(`${texts.join(' ')}\n`)
  console.error = (...texts) => void into('err')(`${texts.join(' ')}\n`)
  try {
    const code = await runCommand(args, { nameServer: '', checks: '', checkpoints: '' })
    return { code, ...output }
  } finally {
    ;[stdout.write, stderr.write] = writes
    ;[console.log, console.error] = logs
    for (const name of Object.keys(process.env)) if (!(name in savedEnv)) delete process.env[name]
    Object.assign(process.env, savedEnv)
  }
}

/** Runs `fn` with a temporary folder, which is deleted afterwards. */
export async function inTempFolder<T>(fn: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-command-'))
  try {
    return await fn(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
