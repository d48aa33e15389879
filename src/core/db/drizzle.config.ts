import { defineConfig } from 'drizzle-kit'

const dialect = process.env.BAILIWICK_DATABASE_URL ? 'postgresql' : 'sqlite'

// Used by drizzle-kit in `bun run migrations`.
export default defineConfig({
  dialect,
  schema: [
    './src/core/db/tables.ts',
    './src/access/tables.ts',
    './src/api/tables.ts',
    './src/features/*/*tables.ts',
    './src/features/*/*/*tables.ts',
  ],
  out: dialect === 'sqlite' ? './migrations/sqlite' : './migrations/postgres',
})
