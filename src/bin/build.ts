import { globSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { version } from '../core/version'
import { agentPlatforms } from '../wire/agent-platforms'
import { programMark } from '../wire/agent-version'

// Builds the three programs in dist/: `bun src/bin/build.ts [--target bun-linux-arm64] [--agents] [--outdir DIR]`
// With --agents, also the agents of all other platforms, which the hub gives to servers. Their runtimes come from the npm registry.
// Tests build one of them with other constants: `--program bailiwick-agent --define 'BUILD_VERSION="0.0.9"'`
const flags = [
  '--compile',
  '--format=esm',
  // The program must not load settings or code from the current directory.
  '--no-compile-autoload-dotenv',
  '--no-compile-autoload-bunfig',
]
// Doesn't minify identifiers: Elysia parses the source of handlers, which renaming would break.
const large = ['--bytecode', '--splitting', '--sourcemap', '--minify-syntax', '--minify-whitespace']
// The agent uses 1.5 MB less memory without bytecode and source maps, and 0.5 MB less with a small heap.
const small = ['--minify', '--splitting', '--compile-exec-argv=--smol', `--banner=// ${programMark}${builtVersion()}`]
const only = options('--program')
if (only.length === 0) {
  const built = Bun.spawnSync([process.execPath, 'src/bin/build-dashboard.ts'], { stdout: 'ignore', stderr: 'inherit' })
  if (built.exitCode !== 0) process.exit(built.exitCode)
}

const [target] = options('--target')
const ownPlatform = target?.replace(/^bun-/, '') ?? `linux-${process.arch}`
const agent = { entries: ['src/bin/agent.ts'], assets: [], flags: small }
// Worker threads must be entry points in the same folder as the main one, or the compiled program doesn't find them.
const programs = [
  {
    name: 'bailiwick',
    entries: ['src/bin/hub.ts', 'src/bin/name-server.ts', 'src/bin/checks.ts', 'src/bin/checkpoints.ts'],
    assets: ['dist/web'],
    flags: large,
    target,
  },
  { name: 'bailiwick-agent', ...agent, target },
  { name: 'bailiwick-probe', entries: ['src/bin/probe.ts'], assets: [], flags: large, target },
]
const agents = agentPlatforms
  .filter(platform => platform !== ownPlatform)
  .map(platform => ({ name: `bailiwick-agent-${platform}`, ...agent, target: `bun-${platform}` }))
const chosen =
  only.length > 0
    ? [...programs, ...agents].filter(({ name }) => only.includes(name))
    : [...programs, ...(process.argv.includes('--agents') ? agents : [])]

const [folder = 'dist'] = options('--outdir')
mkdirSync(folder, { recursive: true })
for (const { name, entries, assets, flags: own, target: platform } of chosen) {
  const file = `${folder}/${name}`
  const { exitCode } = Bun.spawnSync(
    [
      process.execPath,
      'build',
      ...flags,
      ...own,
      ...(platform ? [`--target=${platform}`] : []),
      ...options('--define').flatMap(one => ['--define', one]),
      ...assets.flatMap(folder => ['--asset', folder]),
      ...entries,
      '--outfile',
      file,
    ],
    {
      stdout: 'ignore',
      stderr: 'inherit',
    },
  )
  if (exitCode !== 0) process.exit(exitCode)
  process.stdout.write(`${file}  ${version}  ${Math.round(statSync(file).size / 1e6)} MB\n`)
}
// Source maps are also embedded in the programs, where stack traces read them.
for (const map of globSync(`${folder}/*.map`)) rmSync(map)

/** The version of the programs, which tests can change. */
function builtVersion(): string {
  const [, changed] = /^BUILD_VERSION="(.+)"$/m.exec(options('--define').join('\n')) ?? []
  return changed ?? version
}

/** The values of an option, which can be given several times. */
function options(name: string): string[] {
  return process.argv.flatMap((word, at) => (process.argv[at - 1] === name ? [word] : []))
}
