import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

// Fails when the tables in the source and the migrations differ: `bun run migrations:check`.
// Works on a copy, so that the tree stays as it is. drizzle-kit wants paths below the working folder.
const copy = mkdtempSync('.migrations-check-')
let good = true
try {
  cpSync('migrations', copy, { recursive: true })
  for (const [engine, dialect] of [
    ['sqlite', 'sqlite'],
    ['postgres', 'postgresql'],
  ] as const) {
    const config = join(copy, `${engine}.config.ts`)
    const out = `./${relative('.', join(copy, engine))}`
    writeFileSync(
      config,
      `import config from '../src/core/db/drizzle.config'\nexport default { ...config, dialect: '${dialect}', out: '${out}' }\n`,
    )
    const before = readdirSync(join(copy, engine)).length
    const run = Bun.spawnSync(
      [process.execPath, 'node_modules/drizzle-kit/bin.cjs', 'generate', '--config', config, '--name', 'missing'],
      {
        env: { ...process.env, BAILIWICK_DATABASE_URL: engine === 'postgres' ? 'postgres://unused' : '' },
      },
    )
    const added = readdirSync(join(copy, engine)).filter(name => name.endsWith('_missing.sql'))
    const said = `${run.stdout.toString()}${run.stderr.toString()}`
    const same =
      run.exitCode === 0 &&
      added.length === 0 &&
      readdirSync(join(copy, engine)).length === before &&
      said.includes('No schema changes')
    if (!same) {
      good = false
      process.stdout.write(said)
      for (const name of added) process.stdout.write(`${await Bun.file(join(copy, engine, name)).text()}\n`)
    }
    process.stdout.write(
      `${engine}: ${same ? 'the migrations make the tables of the source' : 'a migration is missing; run: NAME=<what changes> bun run migrations'}\n`,
    )
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
process.exit(good ? 0 : 1)
