import { readFileSync } from 'node:fs'
import { Sampler } from '../../src/agent/sample/sampler'

// Prints what 60 samples cost, ten minutes of a server, as JSON. Garbage is collected once a minute, as the sampler does.
const samples = 60
const sampler = new Sampler()
const take = async (first: number, count: number) => {
  for (let sample = first; sample < first + count; sample++) {
    await sampler.sample(sample * 10_000)
    if (sample % 6 === 5) Bun.gc(true)
  }
}
await take(0, 6)
const before = process.cpuUsage()
await take(6, samples)
const { user, system } = process.cpuUsage(before)
const memory = readFileSync('/proc/self/smaps_rollup', 'utf8')
const bytes = (name: string) => Number(new RegExp(`^${name}: *(\\d+) kB$`, 'm').exec(memory)![1]) * 1024
console.log(JSON.stringify({ cpuMs: (user + system) / 1000 / samples, rssBytes: bytes('Rss'), ownBytes: bytes('Anonymous') }))
