import { Sampler } from '../../src/agent/sample/sampler'

// Prints what 60 samples cost, ten minutes of a server, as JSON.
const samples = 60
const sampler = new Sampler()
const at = (sample: number) => sample * 10_000
for (let sample = 0; sample < 6; sample++) await sampler.sample(at(sample))
const before = process.cpuUsage()
for (let sample = 0; sample < samples; sample++) await sampler.sample(at(sample + 6))
const { user, system } = process.cpuUsage(before)
const { rss, heapUsed } = process.memoryUsage()
console.log(JSON.stringify({ cpuMs: (user + system) / 1000 / samples, rssBytes: rss, heapBytes: heapUsed }))
