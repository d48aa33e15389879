import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import { databaseUrl, loadConfig } from '../core/config'
import type { Threads } from '../hub/run'
import { Failure, type EndWith } from './failure'
import { hostAndPort } from './serve'
import { exitOnUncaughtErrors, stopRequested } from './shutdown'

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
    .description('Run a temporary hub with live sample data')
    .option('--data <dir>', 'Empty folder to keep the data in (default: a temporary folder, deleted on exit)')
    .option('--listen <host:port>', 'Address and port to listen on', defaultListen)
    .option('--dns-listen <host:port>', 'Address and port of the name server', '127.0.0.1:0')
    .option('--seed <number>', 'Seed for random sample data', parseSeed, 1)
    .addHelpText(
      'after',
      `
Starts a separate hub with 90 days of sample data of a fictional company: monitors, incidents, DNS zones, and notifications.
The monitors check local servers that go up and down while you watch. The demo ignores your settings and doesn't affect other
installations. Don't use it in production.

Examples:
  bailiwick demo
  bailiwick demo --listen 0.0.0.0:9000 --seed 7`,
    )
    .action(async (flags: DemoFlags) => {
      await demo(flags, threads)
    })
}

async function demo(flags: DemoFlags, threads: Threads): Promise<void> {
  if (databaseUrl !== null) throw new Failure('bailiwick demo does not support PostgreSQL: unset BAILIWICK_DATABASE_URL.')
  exitOnUncaughtErrors(error => console.error(error))
  const stop = stopRequested()
  const folder = createFolder(flags.data)
  // Also after an early exit: partial data is useless.
  let keepData = false
  process.once('exit', () => {
    if (!keepData) for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true })
    if (flags.data === undefined) rmSync(folder, { recursive: true, force: true })
  })
  // Ignore the environment: the demo must not use the key and the database of the hub on this machine.
  const config = loadConfig({ data: folder, listen: flags.listen, dnsListen: flags.dnsListen }, {})
  const { checkListen } = await import('../hub/listen')
  await checkListen(config)
  console.log('Creating 90 days of sample data…')
  const { runDemo } = await import('./demo/run')
  const started = runDemo({ ...config, logLevel: 'error', dnsPollSeconds: 60, stopSeconds: 3 }, threads, flags.seed)
  const demo = await Promise.race([started, stop.then(() => null)])
  if (demo === null) return
  keepData = flags.data !== undefined
  const { running, owner, link } = demo
  console.log(`
The Bailiwick demo is running at ${running.hub.baseUrl}
Sign in with this single-use link: ${link}
Or sign in as ${owner.email} with the password ${owner.password}`)
  if (running.nameServer) console.log(`The name server is listening on ${hostAndPort(running.nameServer)}`)
  console.log(
    flags.data === undefined
      ? '\nPress Ctrl-C to stop the demo and delete its data.'
      : `\nPress Ctrl-C to stop the demo. Its data stays in ${folder}, but its monitors only work while the demo is running.`,
  )
  await stop
  await demo.stop()
}

function createFolder(path: string | undefined): string {
  if (path === undefined) return mkdtempSync(join(tmpdir(), 'bailiwick-demo-'))
  const folder = resolve(path)
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Failure(`--data: ${folder} is not empty. The demo needs an empty folder.`)
  mkdirSync(folder, { recursive: true, mode: 0o750 })
  return folder
}

function parseSeed(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 to 999999999.')
  return Number(text)
}
