import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ended } from './binary'

/** Runs the program from source once, on SQLite unless `env` names another database. Nothing of the tests' own settings is passed on. */
export async function runSource(args: string[], env: Record<string, string> = {}, input = ''): Promise<Ended> {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('BAILIWICK_'))
  const run = Bun.spawn([process.execPath, 'src/bin/hub.ts', ...args], {
    env: { ...Object.fromEntries(own), ...env },
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 45_000,
  })
  const [out, err, code] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text(), run.exited])
  return { code, out, err }
}

/** Runs `fn` with a new folder, which is gone afterwards. */
export async function inFolder<T>(fn: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-command-'))
  try {
    return await fn(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
