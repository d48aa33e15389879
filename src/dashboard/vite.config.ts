import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The dashboard is built into dist/web and embedded in the program. For development, run `bun run dev:dashboard` next to a
// running hub: Vite serves the pages with hot reload and forwards all other requests to the hub.
const hub = { target: 'http://localhost:8484', changeOrigin: false }

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    // Inlined files would be data: URLs, which the Content-Security-Policy allows only for images.
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
