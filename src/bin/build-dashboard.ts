import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'vite'

// Builds the dashboard into dist/web. Files are compressed ahead of time, so that no request waits for it.
await build({ configFile: 'src/dashboard/vite.config.ts', logLevel: 'warn' })

// Smaller files fit into one packet anyway.
const minCompressedBytes = 1400
for (const file of globSync('dist/web/**/*.{js,css,html,svg}')) {
  const bytes = readFileSync(file)
  if (bytes.length < minCompressedBytes) continue
  writeFileSync(`${file}.br`, brotliCompressSync(bytes))
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
}
rmSync('dist/web/.vite', { recursive: true, force: true })
