import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { installOnce, venvSteps } from './python-packages'

const clients = resolve('test/real/clients')
const folder = join(homedir(), '.cache/bailiwick-client-generators')
const programs = join(folder, 'bin')

/** Environment in which the client generators and Go are found. Go uses the versions in go.mod. */
export const generatorEnv = {
  PATH: [programs, resolve('node_modules/.bin'), process.env.PATH].join(':'),
  GOTOOLCHAIN: 'local',
  GOFLAGS: '-buildvcs=false',
  // Generators are short programs.
  JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1',
}

/** Installs the client generators and Go in a folder that is kept between runs. Returns whether they are installed. */
export async function installGenerators(): Promise<boolean> {
  const versions = ['requirements.txt', 'go.sum'].map(name => readFileSync(join(clients, name), 'utf8')).join('\n')
  const go = ['go', '-C', clients, 'build']
  const steps = [
    ...venvSteps(folder, join(clients, 'requirements.txt')),
    [...go, '-o', join(programs, 'oapi-codegen'), 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen'],
    // Fills the build cache with the standard library and what generated clients import.
    [...go, 'github.com/oapi-codegen/runtime', 'github.com/oapi-codegen/nullable', 'gopkg.in/validator.v2'],
  ]
  return await installOnce(folder, versions, steps, generatorEnv)
}
