import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import { databaseUrl, loadConfig } from '../core/config'
import type { Threads } from '../hub/run'
import { Failure } from './failure'
import type { EndWith } from './index'
import { hostAndPort } from './serve'
import { endOnSurprises, stopAsked } from './stopping'

const defaultListen = '127.0.0.1:8484'

interface DemoFlags {
  data?: string
  listen: string
  dnsListen: string
  seed: number
}

export function addDemo(program: Command, _: EndWith, threads: Threads): void {
  program
    .command('demo')
    .description('Run a throw-away hub with living sample data.')
    .option('--data <dir>', 'empty folder to keep it in; without, one that is removed at the end')
    .option('--listen <host:port>', 'address and port to serve on', defaultListen)
    .option('--dns-listen <host:port>', 'address and port of the name server', '127.0.0.1:0')
    .option('--seed <number>', 'what is left to chance is the same for the same number', readSeed, 1)
    .addHelpText(
      'after',
      `
Makes a hub of its own with three months of monitors, incidents, zones and messages of a company that does not exist, and servers on
this machine that go up and down. It reads no settings and touches no other installation. Nothing of it is for real use.

Examples:
  bailiwick demo
  bailiwick demo --listen 0.0.0.0:9000 --seed 7`,
    )
    .action(async (flags: DemoFlags) => {
      await demo(flags, threads)
    })
}

async function demo(flags: DemoFlags, threads: Threads): Promise<void> {
  if (databaseUrl !== null)
    throw new Failure('bailiwick demo keeps its data in a folder of its own: unset BAILIWICK_DATABASE_URL for it.')
  endOnSurprises(error => console.error(error))
  const asked = stopAsked()
  const folder = folderFor(flags.data)
  // Also where it ends at once. Half of a past is of use to nobody.
  let isKept = false
  process.once('exit', () => {
    if (!isKept) for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true })
    if (flags.data === undefined) rmSync(folder, { recursive: true, force: true })
  })
  // Of this machine's own hub nothing is taken over, its key and its database least of all.
  const config = loadConfig({ data: folder, listen: flags.listen, dnsListen: flags.dnsListen }, {})
  const { checkListen } = await import('../hub/listen')
  await checkListen(config)
  console.log('Making three months of sample data …')
  const { runDemo } = await import('./demo/run')
  const started = runDemo({ ...config, logLevel: 'error', dnsPollSeconds: 60, stopSeconds: 3 }, threads, flags.seed)
  const demo = await Promise.race([started, asked.then(() => null)])
  if (demo === null) return
  isKept = flags.data !== undefined
  const { running, owner, link } = demo
  console.log(`
A demo of Bailiwick serves at ${running.hub.baseUrl}
Sign in at once, by a link that works one time: ${link}
Or as ${owner.email} with the password ${owner.password}`)
  if (running.nameServer) console.log(`Answers DNS at ${hostAndPort(running.nameServer)}`)
  console.log(
    flags.data === undefined
      ? '\nIt is throw-away: Ctrl-C ends it, and all that was made or changed in it is gone.'
      : `\nIt is for looking at only: its monitors watch servers that end with it. Ctrl-C ends it, and leaves ${folder}.`,
  )
  await asked
  await demo.stop()
}

function folderFor(given: string | undefined): string {
  if (given === undefined) return mkdtempSync(join(tmpdir(), 'bailiwick-demo-'))
  const folder = resolve(given)
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Failure(`--data: ${folder} is not empty. bailiwick demo makes an installation of its own, and changes no other.`)
  mkdirSync(folder, { recursive: true, mode: 0o750 })
  return folder
}

function readSeed(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 to 999999999.')
  return Number(text)
}
