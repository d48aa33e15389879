import { globSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { version } from '../core/version'

// Makes the three programs in dist/. `bun src/bin/build.ts [--target bun-linux-arm64] [--outdir DIR]`
// Names stay as written (no full --minify): Elysia reads the text of handlers, and renaming breaks what it finds there.
const flags = [
  '--compile',
  '--bytecode',
  '--format=esm',
  '--splitting',
  '--sourcemap',
  '--minify-syntax',
  '--minify-whitespace',
  // A program must not take settings, or code to run first, from whatever folder it is started in.
  '--no-compile-autoload-dotenv',
  '--no-compile-autoload-bunfig',
]
const built = Bun.spawnSync([process.execPath, 'src/bin/build-dashboard.ts'], { stdout: 'ignore', stderr: 'inherit' })
if (built.exitCode !== 0) process.exit(built.exitCode)

// Workers of the hub are listed here beside it: the compiled program finds an entry point only in the entry's own folder.
const programs = [
  { name: 'bailiwick', entries: ['src/bin/hub.ts', 'src/bin/name-server.ts', 'src/bin/checks.ts'], assets: ['dist/web'] },
  { name: 'bailiwick-agent', entries: ['src/bin/agent.ts'], assets: [] },
  { name: 'bailiwick-probe', entries: ['src/bin/probe.ts'], assets: [] },
]

const target = option('--target')
const folder = option('--outdir') ?? 'dist'
mkdirSync(folder, { recursive: true })
for (const { name, entries, assets } of programs) {
  const file = `${folder}/${name}`
  const { exitCode } = Bun.spawnSync(
    [
      process.execPath,
      'build',
      ...flags,
      ...(target ? [`--target=${target}`] : []),
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
// The maps are inside the programs as well, which is where stack traces read them.
for (const map of globSync(`${folder}/*.map`)) rmSync(map)

function option(name: string): string | undefined {
  const at = process.argv.indexOf(name)
  return at < 0 ? undefined : process.argv[at + 1]
}
