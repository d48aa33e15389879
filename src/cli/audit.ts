import { existsSync, readFileSync } from 'node:fs'
import type { KeyObject } from 'node:crypto'
import type { Command } from 'commander'
import { pluralize } from '../core/pluralize'
import { macPurpose } from '../core/audit-chain'
import { masterKeyFile, type Config } from '../core/config'
import { signingKey } from '../core/crypto'
import { requiredMasterKeyId } from '../core/installation'
import { loadMasterKey } from '../core/master-key'
import { derivedKey } from '../core/secrets'
import { checkpointFile } from '../features/audit/checkpoint-file'
import { checkChain, type ChainReport } from '../features/audit/chain-check'
import {
  checkpointPurpose,
  publicKeyOf,
  publicKeyPem,
  readCheckpoints,
  readPublicKeys,
  type Checkpoint,
} from '../features/audit/checkpoint'
import { Failure, type EndWith } from './failure'
import { readDatabaseChains, readExportChains, readInstallationKey, type ChainContents } from './audit-chains'
import { noInstallation } from './operator'
import { readConfig, withData, type SettingFlags } from './settings'

interface VerifyFlags extends SettingFlags {
  checkpoint?: string
  publicKey?: string
  export?: string
  json?: boolean
}

export function addAudit(program: Command, endWith: EndWith): void {
  const audit = program
    .command('audit')
    .description('Verify the integrity of the audit log')
    .addHelpText(
      'after',
      '\nExamples:\n  bailiwick audit verify --data /var/lib/bailiwick\n  bailiwick audit public-key > audit.pem',
    )
  withData(audit.command('verify').description('Verify the audit log against its hashes, MACs, and signed checkpoints'))
    .option(
      '--checkpoint <file>',
      'File with checkpoints stored elsewhere, which must all exist in the database (default: DATA/audit-checkpoints.ndjson, if it exists)',
    )
    .option('--public-key <file>', 'PEM file with public keys for checkpoint signatures, to verify without the master key')
    .option('--export <file>', 'Verify an NDJSON export instead of the database')
    .option('--json', 'Print the report as JSON')
    .addHelpText(
      'after',
      `
You can run this while the hub is running, or elsewhere with a copy of the database, the checkpoints, and the public key.
Without the master key, entries after the last checkpoint can only be checked for consistency, not verified.

Exit codes:
  0  The audit log is intact
  1  The verification could not run
  3  Without the master key, a log could not be verified, because no checkpoint covers any of its entries
  4  Tampering was detected

Examples:
  bailiwick audit verify --data /var/lib/bailiwick
  bailiwick audit verify --data ./copy --checkpoint checkpoints.ndjson --public-key audit.pem
  bailiwick audit verify --export acme.ndjson --checkpoint checkpoints.ndjson --public-key audit.pem`,
    )
    .action(async (flags: VerifyFlags) => {
      const reports = await verify(flags)
      if (flags.json) console.log(JSON.stringify(reports.map(reportJson), null, 2))
      else print(reports)
      endWith(reports.some(one => one.findings.length > 0) ? 4 : reports.some(one => !one.isVerified) ? 3 : 0)
    })
  withData(audit.command('public-key').description('Print the public key for verifying checkpoints of the audit log'))
    .addHelpText(
      'after',
      `
Examples:
  bailiwick audit public-key --data /var/lib/bailiwick > audit.pem`,
    )
    .action(async (flags: SettingFlags) => console.log(publicKeyPem((await ownKeys(readConfig(flags))).publicKey).trimEnd()))
}

async function verify(flags: VerifyFlags): Promise<ChainReport[]> {
  const config = readConfig(flags)
  // With a public key, verify without any secret of this machine.
  const own = flags.publicKey === undefined && flags.export === undefined ? await ownKeys(config) : null
  if (!own && flags.publicKey === undefined)
    throw new Failure('--export requires --public-key. Get the key with bailiwick audit public-key.')
  const publicKeys = own ? [own.publicKey] : read(flags.publicKey!, readPublicKeys)
  const file = flags.checkpoint ?? (flags.export === undefined ? checkpointFile(config) : null)
  if (file === null) throw new Failure('--export requires --checkpoint with the checkpoints of the hub.')
  const fromFile = flags.checkpoint !== undefined || existsSync(file) ? read(file, readCheckpoints) : []
  const reports: ChainReport[] = []
  const check = ({ chain, entries, counted }: ChainContents, stored?: Checkpoint[]) =>
    reports.push(
      checkChain({
        chain,
        entries,
        // A checkpoint with an invalid signature is reported for its chain.
        checkpoints: [...(stored ?? []), ...fromFile].filter(one => one.chain === chain),
        stored,
        counted,
        publicKeys,
        macKey: own?.macKey ?? null,
      }),
    )
  if (flags.export !== undefined) for (const one of readExportChains(flags.export)) check(one)
  else await readDatabaseChains(config, check, fromFile)
  return reports
}

/** The installation's own keys for the audit log. They are stored encrypted with the master key, and survive its rotation. */
async function ownKeys(config: Config): Promise<{ publicKey: KeyObject; macKey: Uint8Array }> {
  if ((await requiredMasterKeyId(config)) === null) throw new Failure(noInstallation(config))
  const file = masterKeyFile(config)
  if (!existsSync(file)) throw new Failure(`Master key ${file} not found. Use --public-key to verify without it.`)
  const { key, previous } = loadMasterKey(file, false)
  const row = await readInstallationKey(config)
  const derived = (purpose: string) => derivedKey({ current: key, previous }, row, purpose)
  return { publicKey: publicKeyOf(signingKey(derived(checkpointPurpose))), macKey: derived(macPurpose) }
}

function read<T>(file: string, as: (text: string) => T): T {
  const text = readFileSync(file, 'utf8')
  try {
    return as(text)
  } catch (error) {
    throw new Failure(`${file}: ${(error as Error).message}`)
  }
}

function print(reports: ChainReport[]): void {
  for (const { chain, entries, lastSeq, verifiedTo, isVerified, findings } of reports) {
    const name = chain === '' ? 'installation' : chain
    if (findings.length === 0 && !isVerified) {
      console.log(
        `warn  ${name}  ${pluralize(entries, 'entries')}, not verified: no checkpoint covers them, so a forged log would look the same`,
      )
      continue
    }
    const coverage = verifiedTo >= lastSeq ? 'all verified' : `verified up to ${verifiedTo}, consistent up to ${lastSeq}`
    console.log(
      findings.length === 0
        ? `ok    ${name}  ${pluralize(entries, 'entries')}, ${coverage}`
        : `FAIL  ${name}  ${pluralize(entries, 'entries')}`,
    )
    for (const { tampering, from, to, detail } of findings)
      console.log(`      ${tampering}  ${from === to ? from : `${from}-${to}`}: ${detail}`)
  }
  if (reports.length === 0) console.log('The audit log is empty.')
}

const reportJson = ({ chain, entries, lastSeq, verifiedTo, isVerified, findings }: ChainReport) => ({
  chain,
  entries,
  last_seq: lastSeq,
  verified: isVerified,
  verified_to: verifiedTo,
  findings,
})
