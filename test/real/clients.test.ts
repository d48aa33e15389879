import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fullToken, installation, startHub, type HubProcess, type Installation } from '../support/binary'
import { generatorEnv } from '../support/client-generators'

// Generates clients from the OpenAPI document of a compiled hub, and creates, reads, updates, and deletes resources with them.
interface Client {
  name: string
  /** The command in the handbook. */
  generate: string
  /** Compiles the whole client. */
  compile: string
  run: string
}

// Without optimization, a client compiles in a third less time.
const goBuild = 'go build -gcflags="./...=-N -l" -o program .'

const oapiCodegen: Client = {
  name: 'oapi-codegen',
  generate: 'oapi-codegen -config oapi-codegen.yaml openapi.json',
  compile: `mkdir bailiwick && mv client.gen.go bailiwick && ${goBuild}`,
  run: './program',
}
const generatorForGo: Client = {
  name: 'openapi-generator-go',
  generate:
    'openapi-generator-cli generate -g go -i openapi.json -o bailiwick --global-property models,apis,supportingFiles --additional-properties packageName=bailiwick,withGoMod=false,useOneOfDiscriminatorLookup=true',
  compile: goBuild,
  run: './program',
}
const generatorForPython: Client = {
  name: 'openapi-generator-python',
  generate:
    'openapi-generator-cli generate -g python -i openapi.json -o client --global-property models,apis,supportingFiles --additional-properties packageName=bailiwick',
  compile: 'python -W error -m compileall -q client/bailiwick',
  run: 'PYTHONPATH=client python main.py',
}
const pythonClient: Client = {
  name: 'openapi-python-client',
  generate:
    'openapi-python-client generate --path openapi.json --config openapi-python-client.yaml --meta none --output-path bailiwick',
  compile: 'python -W error -m compileall -q bailiwick',
  run: 'python main.py',
}
const typescript: Client = {
  name: 'openapi-typescript',
  generate: 'openapi-typescript openapi.json --default-non-nullable=false -o schema.ts',
  compile: 'tsc --noEmit --strict --skipLibCheck --target esnext --module preserve --types bun-types main.ts',
  run: `${process.execPath} main.ts`,
}
// Two at a time: more would not be faster on two cores.
const lanes = [
  [generatorForGo, generatorForPython],
  [oapiCodegen, pythonClient, typescript],
]

let here: Installation
let hub: HubProcess
let token: string
let folder: string
let results: Map<Client, Promise<void>> | null = null

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-clients-'))
  here = await installation()
  hub = await startHub(here)
  token = await fullToken(here)
})
afterAll(async () => {
  await Promise.allSettled(results?.values() ?? [])
  await hub?.stop()
  await here?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
}, 1_800_000)

describe('the client of', () => {
  for (const client of lanes.flat())
    test(`${client.name} compiles, has every operation, and works`, () => (results ??= startLanes()).get(client), 1_800_000)
})

test('the handbook shows the commands and versions', async () => {
  const handbook = await Bun.file('src/docs/api.md').text()
  for (const { generate } of lanes.flat()) expect(handbook).toContain(`\n${generate}\n`)
  for (const file of ['oapi-codegen/oapi-codegen.yaml', 'openapi-python-client/openapi-python-client.yaml'])
    expect(handbook).toContain(readFileSync(`test/real/clients/${file}`, 'utf8'))
  const pinned = ['test/real/clients/requirements.txt', 'test/real/clients/go.mod', 'package.json'].map(file =>
    readFileSync(file, 'utf8'),
  )
  for (const [, generator, version] of handbook.matchAll(/^# \w+: (\S+) ([\d.]+)/gm))
    expect(pinned.join('\n')).toMatch(new RegExp(`\\b${generator}(?:==|": "|/v2 v)${version}\\b`))
})

function startLanes(): Map<Client, Promise<void>> {
  const started = new Map<Client, Promise<void>>()
  for (const lane of lanes) {
    let previous = Promise.resolve()
    for (const client of lane) {
      const result = previous.then(() => generateAndRun(client))
      started.set(client, result)
      previous = result.catch(() => {})
    }
  }
  return started
}

async function generateAndRun(client: Client): Promise<void> {
  const work = join(folder, client.name)
  cpSync(join('test/real/clients', client.name), work, { recursive: true })
  for (const name of ['go.mod', 'go.sum']) cpSync(join('test/real/clients', name), join(work, name))
  symlinkSync(resolve('node_modules'), join(work, 'node_modules'))
  const document = await (await fetch(`${hub.url}/v1/openapi.json`)).text()
  writeFileSync(join(work, 'openapi.json'), document)

  const output = await sh(client.generate, work)
  expect(output).not.toMatch(/will not be generated|will be omitted/)
  expect(await missingOperations(work, JSON.parse(document))).toEqual([])
  await sh(client.compile, work)
  await sh(client.run, work)
}

/** IDs of operations that occur neither in a name nor in the text of a generated file. */
async function missingOperations(work: string, document: { paths: Record<string, Record<string, { operationId: string }>> }) {
  const words = new Set<string>()
  for await (const path of new Bun.Glob('**/*.{go,py,ts}').scan({ cwd: work, followSymlinks: false })) {
    const text = `${path} ${await Bun.file(join(work, path)).text()}`
    for (const word of text.replaceAll('_', '').toLowerCase().match(/\w+/g) ?? []) words.add(word)
  }
  const ids = Object.values(document.paths).flatMap(one => Object.values(one).map(operation => operation.operationId))
  return ids.filter(id => !words.has(id.toLowerCase()))
}

/** Runs a command with a low priority, because other tests measure time. @returns its output */
async function sh(command: string, cwd: string): Promise<string> {
  const run = Bun.spawn(['nice', '-n', '10', 'bash', '-c', `(${command}) 2>&1`], {
    cwd,
    env: { ...process.env, ...generatorEnv, HUB: hub.url, TOKEN: token },
    stdin: 'ignore',
    stdout: 'pipe',
  })
  const output = await new Response(run.stdout).text()
  if ((await run.exited) !== 0) throw new Error(`${command}\n${output}`)
  return output
}
