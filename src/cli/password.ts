import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { maxPasswordLength, minPasswordLength } from '../features/people/shapes'
import { Failure } from './failure'

/**
 * Reads a password from a file, from standard input, or from the terminal without echo. Never from an argument, which every
 * process can see.
 * @throws Failure if it is too short, too long, or common, or if the two typed passwords differ
 */
export async function readPassword(file: string | undefined): Promise<string> {
  const password =
    file !== undefined
      ? firstLine(readFileSync(file, 'utf8'))
      : process.stdin.isTTY
        ? await promptTwice()
        : firstLine(await Bun.stdin.text())
  if (password.length < minPasswordLength) throw new Failure(`The password must have at least ${minPasswordLength} characters.`)
  if (password.length > maxPasswordLength) throw new Failure(`The password must have at most ${maxPasswordLength} characters.`)
  const { isCommonPassword } = await import('../features/people/common-passwords')
  if (isCommonPassword(password)) throw new Failure('This is a common password, or a small change to one. Choose another one.')
  return password
}

const firstLine = (text: string) => text.split(/\r?\n/, 1)[0]!

async function promptTwice(): Promise<string> {
  const first = await prompt('Password: ')
  if (first !== (await prompt('Confirm password: '))) throw new Failure("The passwords don't match.")
  return first
}

/** Prompts on standard error: standard output is for the result of the command. */
async function prompt(question: string): Promise<string> {
  process.stderr.write(question)
  const noOutput = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: noOutput, terminal: true })
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve)
      lines.once('SIGINT', () => reject(new Failure('Interrupted.')))
      lines.once('close', () => reject(new Failure('No password entered.')))
    })
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
