import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { createProgram } from '../../src/cli'
import { settings } from '../../src/core/config'

// Only reads the Dockerfile, so that the tests need no container engine.
const lines = readFileSync('Dockerfile', 'utf8')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .map(line => line.trim())
  .filter(line => line !== '' && !line.startsWith('#'))
const of = (word: string) => lines.filter(line => line.startsWith(`${word} `)).map(line => line.slice(word.length + 1))
const stages = of('FROM')

test('copied files exist and are not ignored', () => {
  const kept = readFileSync('.dockerignore', 'utf8')
    .split('\n')
    .filter(line => line.startsWith('!'))
    .map(line => line.slice(1))
  const copied = of('COPY')
    .filter(args => !args.startsWith('--from='))
    .flatMap(args => args.split(/\s+/).slice(0, -1))
  expect(copied.filter(path => !existsSync(path))).toEqual([])
  expect([...copied].sort()).toEqual([...kept].sort())
})

test('the build uses the Bun version in package.json and the lock file', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { bun: string } }
  const used = of('RUN').flatMap(line => [...line.matchAll(/bun@([\d.]+)/g)].map(match => match[1]))
  expect(new Set(used)).toEqual(new Set([engines.bun.replace(/[^\d.]/g, '')]))
  expect(of('RUN').some(line => line.includes('install --frozen-lockfile'))).toBe(true)
})

test('it runs as its own user, stores its data in a volume, and exposes the default port', () => {
  expect(stages).toHaveLength(2)
  expect(of('USER')).toEqual(['bailiwick'])
  expect(of('VOLUME')).toEqual(['/data'])
  expect(of('ENV')).toEqual([`${settings.data.variable}=/data`])
  expect(of('EXPOSE')).toEqual([settings.listen.default.split(':').at(-1)!])
})

test('every command it uses exists', () => {
  const names = createProgram(() => {}, { nameServer: '', checks: '', checkpoints: '' }).commands.map(command => command.name())
  const healthcheck = of('HEALTHCHECK')[0]!
  expect(names).toContain(JSON.parse(/CMD (\[.*\])/.exec(healthcheck)![1]!)[1])
  expect(JSON.parse(of('ENTRYPOINT')[0]!)).toEqual(['bailiwick'])
  expect(names).toContain(JSON.parse(of('CMD')[0]!)[0])
})
