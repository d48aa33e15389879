import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'vite'

// Builds the dashboard into dist/web, each file beside its packed forms, so that nothing is packed while somebody waits.
await build({ configFile: 'src/dashboard/vite.config.ts', logLevel: 'warn' })

// Nothing is said in a smaller way below this.
const leastPacked = 1400
for (const file of globSync('dist/web/**/*.{js,css,html,svg}')) {
  const bytes = readFileSync(file)
  if (bytes.length < leastPacked) continue
  writeFileSync(`${file}.br`, brotliCompressSync(bytes))
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
}
rmSync('dist/web/.vite', { recursive: true, force: true })
