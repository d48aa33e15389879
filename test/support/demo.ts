import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProgram, until } from './binary'

/** A demo of the compiled program, whose folder is below one of the test's own. */
export interface Demo {
  /** What it printed so far. */
  said: { out: string; err: string }
  /** The folders that it keeps. */
  kept(): string[]
  /** Waits until it serves: its address, and how its owner signs in. */
  ready(): Promise<{ url: string; email: string; password: string }>
  /** Sends a signal and waits for the end; returns the exit code. */
  stop(signal: NodeJS.Signals): Promise<number>
  /** Removes what it left, once it has ended. */
  remove(): void
}

/** @param args further ones of the command */
export function startDemo(...args: string[]): Demo {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-demo-test-'))
  const { said, stop } = startProgram('bailiwick', ['demo', '--listen', '127.0.0.1:0', ...args], {
    env: { PATH: process.env.PATH!, TMPDIR: folder },
    cwd: folder,
  })
  return {
    said,
    kept: () => readdirSync(folder).filter(name => name.startsWith('bailiwick-demo-')),
    async ready() {
      await until('it serves', async () => /It is throw-away/.test(said.out), 240_000)
      const [, email, password] = /^Or as (\S+) with the password (\S+)$/m.exec(said.out)!
      return { url: /serves at (\S+)/.exec(said.out)![1]!, email: email!, password: password! }
    },
    stop,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
