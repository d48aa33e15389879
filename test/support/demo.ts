import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProgram, until } from './binary'

/** A demo of the compiled program, with its temporary folder inside the folder of the test. */
export interface Demo {
  /** Its output so far. */
  output: { out: string; err: string }
  /** Names of the temporary folders that it created and didn't delete. */
  folders(): string[]
  /** Waits until it is running. @returns its URL and the credentials of the owner */
  ready(): Promise<{ url: string; email: string; password: string }>
  /** Sends a signal and waits for the exit. @returns the exit code */
  stop(signal: NodeJS.Signals): Promise<number>
  /** Deletes the temporary folder of the test. */
  remove(): void
}

/** @param args additional arguments of the command */
export function startDemo(...args: string[]): Demo {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-demo-test-'))
  const { output, stop } = startProgram('bailiwick', ['demo', '--listen', '127.0.0.1:0', ...args], {
    env: { PATH: process.env.PATH!, TMPDIR: folder },
    cwd: folder,
  })
  return {
    output,
    folders: () => readdirSync(folder).filter(name => name.startsWith('bailiwick-demo-')),
    async ready() {
      await until('the demo is running', async () => /Press Ctrl-C/.test(output.out), 600_000)
      const [, email, password] = /^Or sign in as (\S+) with the password (\S+)$/m.exec(output.out)!
      return { url: /is running at (\S+)/.exec(output.out)![1]!, email: email!, password: password! }
    },
    stop,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
