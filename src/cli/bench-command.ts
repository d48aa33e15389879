import { writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { instant, systemClock } from '../core/clock'
import { version } from '../core/version'
import type { Threads } from '../hub/run'
import { benches } from './bench'
import { addCloudServer } from './bench/cloud-server'
import { addReferenceServer } from './bench/reference-server'
import type { Bench, BenchOption, Report } from './bench/bench'
import { addCheckLoad } from './bench/check-load'
import { addTlsScans } from './bench/tls-scan'
import { addCheckTargets } from './bench/check-targets'
import { addBenchNameServer } from './bench/dns-servers'
import { addSink } from './bench/sink'
import type { EndWith } from './failure'

export function addBench(program: Command, _: EndWith, threads: Threads): void {
  const command = program
    .command('bench')
    .description('Benchmark Bailiwick on this machine')
    .addHelpText(
      'after',
      `
Prints the results. Both the servers and the clients run on this machine.

Examples:
  bailiwick bench --help${benches[0] ? `\n  bailiwick bench ${benches[0].name} --json figures.json` : ''}`,
    )
  for (const bench of benches) addOne(command, bench)
  addReferenceServer(command)
  addSink(command)
  addCloudServer(command)
  addBenchNameServer(command, threads)
  addCheckTargets(command)
  addCheckLoad(command, threads)
  addTlsScans(command, threads)
}

function addOne(command: Command, bench: Bench): void {
  const one = command.command(bench.name).description(bench.summary)
  for (const option of bench.options)
    one.option(`--${option.name} <number>`, option.description, parseNumber(option), option.default)
  const { parts: allParts = [], file } = bench
  if (file) one[file.isOptional ? 'option' : 'requiredOption'](`--${file.name} <file>`, file.description)
  if (allParts.length > 0) one.addOption(new Option('--only <parts...>', 'Run only these parts').choices(allParts))
  one
    .option('--json <file>', 'Also write the results to a JSON file')
    .addHelpText('after', `\nExamples:\n  ${example(bench)}\n  ${example(bench)} --json ${bench.name}.json`)
    .action(async ({ json, only = [...allParts], ...values }: Record<string, any> & { json?: string; only?: string[] }) => {
      const args = Object.fromEntries(
        bench.options.map(option => [option.name, values[camelCase(option.name)] ?? option.default]),
      )
      const startedAt = instant(systemClock.now())
      const report = await bench.run(args, only, file && values[file.name])
      print(report)
      if (json)
        writeFileSync(
          json,
          `${JSON.stringify({ bench: bench.name, version, started_at: startedAt, machine: machine(), args, ...report }, null, 2)}\n`,
        )
    })
}

const example = ({ name, file }: Bench): string =>
  `bailiwick bench ${name}${file && !file.isOptional ? ` --${file.name} ${file.name}.json` : ''}`

function print({ figures, notes = [] }: Report): void {
  const width = Math.max(0, ...figures.map(one => one.name.length))
  for (const { name, value, unit } of figures) console.log(`${name.padEnd(width)}  ${rounded(value)} ${unit}`)
  for (const note of notes) console.log(note)
}

/** More than four significant digits would suggest more precision than the measurement has. */
const rounded = (value: number) =>
  Number.isNaN(value)
    ? 'not available'
    : Math.abs(value) >= 1000
      ? Math.round(value).toLocaleString('en')
      : String(Number(value.toPrecision(4)))

const max = 10_000_000

const parseNumber =
  ({ min = 1 }: BenchOption) =>
  (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
    return value
  }

/** The name that commander gives to the value of `--two-words`. */
const camelCase = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

const machine = () => ({
  cpu: cpus()[0]?.model ?? '',
  cores: cpus().length,
  memory_bytes: totalmem(),
  platform: process.platform,
  arch: process.arch,
  bun: Bun.version,
})
