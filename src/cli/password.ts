import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { shortestPassword } from '../access/passwords'
import { Failure } from './failure'

const longestPassword = 1000

/**
 * A password from a file, from standard input, or typed without echo. Never from an argument: those are seen by every process.
 * @throws Failure when it is too short or too long, or the two typed ones differ
 */
export async function readPassword(file: string | undefined): Promise<string> {
  const password =
    file !== undefined
      ? firstLine(readFileSync(file, 'utf8'))
      : process.stdin.isTTY
        ? await typed()
        : firstLine(await Bun.stdin.text())
  if (password.length < shortestPassword) throw new Failure(`The password must have at least ${shortestPassword} characters.`)
  if (password.length > longestPassword) throw new Failure(`The password must have at most ${longestPassword} characters.`)
  return password
}

const firstLine = (text: string) => text.split(/\r?\n/, 1)[0]!

async function typed(): Promise<string> {
  const first = await ask('Password: ')
  if (first !== (await ask('Again: '))) throw new Failure('The two passwords differ.')
  return first
}

/** Asks on standard error, so that standard output stays the command's own. */
async function ask(question: string): Promise<string> {
  process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve)
      lines.once('SIGINT', () => reject(new Failure('Interrupted.')))
      lines.once('close', () => reject(new Failure('No password was given.')))
    })
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
