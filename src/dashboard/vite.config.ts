import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The dashboard is built into dist/web, which the program embeds. For work on it: `bun run dev:dashboard` beside a running
// hub; the pages are then served by Vite, with their changes at once, and everything else by the hub.
const hub = { target: 'http://localhost:8484', changeOrigin: false }

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    // An inlined file would be a data: address, which the Content-Security-Policy allows for images alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    target: 'es2023',
    manifest: 'manifest.json',
  },
  server: {
    port: 8485,
    proxy: Object.fromEntries(['/v1', '/docs', '/swagger', '/problems', '/assets', '/ping'].map(path => [path, hub])),
  },
})
