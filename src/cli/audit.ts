import { existsSync, readFileSync } from 'node:fs'
import type { KeyObject } from 'node:crypto'
import type { Command } from 'commander'
import { numbered } from '../core/numbered'
import { macPurpose } from '../core/audit-chain'
import { masterKeyFile, type Config } from '../core/config'
import { wantedMasterKey } from '../core/installation'
import { loadMasterKey } from '../core/master-key'
import { derivedKey } from '../core/secrets'
import { checkpointFile } from '../features/audit/checkpoint-file'
import { checkChain, type ChainVerdict } from '../features/audit/chain-check'
import {
  checkpointPurpose,
  publicKeyOf,
  publicKeyPem,
  readCheckpoints,
  readPublicKeys,
  signingKey,
  type Checkpoint,
} from '../features/audit/checkpoint'
import type { EndWith } from '.'
import { evidenceOfDatabase, evidenceOfExport, installationKeyRow, type FoundChain } from './audit-evidence'
import { Failure } from './failure'
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
    .description('Prove that nobody changed the audit log behind the hub’s back.')
    .addHelpText(
      'after',
      '\nExamples:\n  bailiwick audit verify --data /var/lib/bailiwick\n  bailiwick audit public-key > audit.pem',
    )
  withData(audit.command('verify').description('Hold the audit log against its hashes, its macs and its signed checkpoints.'))
    .option(
      '--checkpoint <file>',
      'checkpoints that were kept elsewhere (default DATA/audit-checkpoints.ndjson, if there); all of them must be in the database too',
    )
    .option('--public-key <file>', 'public keys in PEM form to check them with, instead of the master key')
    .option('--export <file>', 'an NDJSON export to check instead of the database')
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      `
Works while the hub runs, and without it: with a copy of the database, the checkpoints and the public key. Without the master key,
entries behind the last checkpoint are linked but not proven. Exit code 2 when something was found; 3 when nothing was, and no
checkpoint speaks of any entry of a log, so that a made-up one would look the same.

Examples:
  bailiwick audit verify --data /var/lib/bailiwick
  bailiwick audit verify --data ./copy --checkpoint checkpoints.ndjson --public-key audit.pem
  bailiwick audit verify --export acme.ndjson --checkpoint checkpoints.ndjson --public-key audit.pem`,
    )
    .action(async (flags: VerifyFlags) => {
      const verdicts = await verify(flags)
      if (flags.json) console.log(JSON.stringify(verdicts.map(told), null, 2))
      else print(verdicts)
      endWith(verdicts.some(one => one.findings.length > 0) ? 2 : verdicts.some(one => !one.isProven) ? 3 : 0)
    })
  withData(
    audit.command('public-key').description('Print the public key that the checkpoints of the audit log are checked with.'),
  )
    .addHelpText(
      'after',
      `
Examples:
  bailiwick audit public-key --data /var/lib/bailiwick > audit.pem`,
    )
    .action(async (flags: SettingFlags) => console.log(publicKeyPem((await ownKeys(readConfig(flags))).publicKey).trimEnd()))
}

async function verify(flags: VerifyFlags): Promise<ChainVerdict[]> {
  const config = readConfig(flags)
  // Whoever gives a public key wants a check that needs no secret, and that no secret of this machine can bend.
  const own = flags.publicKey === undefined && flags.export === undefined ? await ownKeys(config) : null
  if (!own && flags.publicKey === undefined)
    throw new Failure('--public-key: an export is checked with it; bailiwick audit public-key prints it.')
  const publicKeys = own ? [own.publicKey] : read(flags.publicKey!, readPublicKeys)
  const file = flags.checkpoint ?? (flags.export === undefined ? checkpointFile(config) : null)
  if (file === null) throw new Failure('--checkpoint: an export is checked with the checkpoints of its hub.')
  const kept = flags.checkpoint !== undefined || existsSync(file) ? read(file, readCheckpoints) : []
  const verdicts: ChainVerdict[] = []
  const check = ({ chain, entries, counted }: FoundChain, stored?: Checkpoint[]) =>
    verdicts.push(
      checkChain({
        chain,
        entries,
        // One whose signature is wrong is told where its chain is.
        checkpoints: [...(stored ?? []), ...kept].filter(one => one.chain === chain),
        stored,
        counted,
        publicKeys,
        macKey: own?.macKey ?? null,
      }),
    )
  if (flags.export !== undefined) for (const one of evidenceOfExport(flags.export)) check(one)
  else await evidenceOfDatabase(config, check, kept)
  return verdicts
}

/** The keys that the installation signs its log with. They are stored, wrapped by the master key, so that they outlive it. */
async function ownKeys(config: Config): Promise<{ publicKey: KeyObject; macKey: Uint8Array }> {
  if ((await wantedMasterKey(config)) === null) throw new Failure(noInstallation(config))
  const file = masterKeyFile(config)
  if (!existsSync(file)) throw new Failure(`There is no master key in ${file}; give --public-key to check without it.`)
  const { key, previous } = loadMasterKey(file, false)
  const row = await installationKeyRow(config)
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

function print(verdicts: ChainVerdict[]): void {
  for (const { chain, entries, lastSeq, provenTo, isProven, findings } of verdicts) {
    const name = chain === '' ? 'installation' : chain
    if (findings.length === 0 && !isProven) {
      console.log(
        `open  ${name}  ${numbered(entries, 'entries')}, nothing proven: no checkpoint speaks of them, and a made-up log would look so too`,
      )
      continue
    }
    const proven = provenTo >= lastSeq ? 'all proven' : `proven to ${provenTo}, linked to ${lastSeq}`
    console.log(
      findings.length === 0
        ? `ok    ${name}  ${numbered(entries, 'entries')}, ${proven}`
        : `FAIL  ${name}  ${numbered(entries, 'entries')}`,
    )
    for (const { tampering, from, to, says } of findings)
      console.log(`      ${tampering}  ${from === to ? from : `${from}-${to}`}: ${says}`)
  }
  if (verdicts.length === 0) console.log('The audit log is empty.')
}

const told = ({ chain, entries, lastSeq, provenTo, isProven, findings }: ChainVerdict) => ({
  chain,
  entries,
  last_seq: lastSeq,
  proven: isProven,
  proven_to: provenTo,
  findings,
})
