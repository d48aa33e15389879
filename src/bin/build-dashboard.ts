import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { inputsOf, isCurrent, type BuildInputs } from './dashboard-inputs'

// Builds the dashboard into dist/web, unless it was already built from the same files. Files are compressed ahead of time, so that
// no request waits for it.
const inputsFile = 'dist/web.json'
const root = process.cwd()

if (isBuilt()) process.stdout.write('The dashboard is up to date.\n')
else await buildDashboard()

function isBuilt(): boolean {
  if (!existsSync('dist/web/index.html') || !existsSync(inputsFile)) return false
  return isCurrent(JSON.parse(readFileSync(inputsFile, 'utf8')) as BuildInputs, root)
}

async function buildDashboard(): Promise<void> {
  process.stdout.write('Building the dashboard, which takes a moment…\n')
  // An interrupted build must not count as one.
  rmSync(inputsFile, { force: true })
  // Loading it takes a second.
  const { build } = await import('vite')
  let ids: string[] = []
  const modules = {
    name: 'modules',
    buildEnd(this: { getModuleIds(): Iterable<string> }) {
      ids = [...this.getModuleIds()]
    },
  }
  await build({ configFile: 'src/dashboard/vite.config.ts', logLevel: 'warn', plugins: [modules] })

  // Smaller files fit into one packet anyway.
  const minCompressedBytes = 1400
  for (const file of globSync('dist/web/**/*.{js,css,html,svg}')) {
    const bytes = readFileSync(file)
    if (bytes.length < minCompressedBytes) continue
    writeFileSync(`${file}.br`, brotliCompressSync(bytes))
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  }
  rmSync('dist/web/.vite', { recursive: true, force: true })
  writeFileSync(inputsFile, JSON.stringify(inputsOf(ids, root)))
}
