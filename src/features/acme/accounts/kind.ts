import { Type } from '@sinclair/typebox'
import type { AccountCheck, AdapterKind } from '../../../adapters/adapter'
import type { AdapterContext } from '../../../adapters/context'
import { AdapterError } from '../../../adapters/failure'
import { secret, settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { Words } from '../../../core/shapes'
import { contactOf, readDirectory, withAcme, type AcmeAccess } from '../client/session'
import { keyTypes } from '../../../core/x509/private-key'

const form = settingsForm({
  directory_url: Type.String({ maxLength: 2000, description: 'URL of the ACME directory.' }),
  contact_email: Type.Optional(Type.String({ maxLength: 254, description: 'Email address for the certificate authority.' })),
  key_type: Words(keyTypes, { description: 'Type of the account key.' }),
  ca_pem: Type.Optional(Type.String({ maxLength: 65_536, description: 'PEM certificates to trust instead of the public CAs.' })),
  eab_kid: Type.Optional(Type.String({ maxLength: 2000, description: 'ID of the key of the external account.' })),
  account_url: Type.String({ maxLength: 2000, description: 'URL of the account.' }),
  account_key: Type.String({ maxLength: 10_000, description: 'PEM of the private key of the account.', ...secret }),
})

/** How an account is stored. The account key is created here and never leaves. */
export type AcmeSettings = SettingsOf<typeof form>

/** The only kind of accounts at certificate authorities. */
export const acmeKind: AdapterKind = { kind: 'acme', title: 'ACME', ...form }

export const accessOf = ({ directory_url, ca_pem, account_key, account_url }: AcmeSettings): AcmeAccess => ({
  directoryUrl: directory_url,
  ca: ca_pem ?? null,
  accountKey: account_key,
  accountUrl: account_url,
})

/** Checks that the account is valid, and updates its contact at the certificate authority. @throws AdapterError */
export async function checkAcmeAccount(settings: AcmeSettings, context: AdapterContext): Promise<AccountCheck> {
  const access = accessOf(settings)
  const directory = await readDirectory(context, access)
  const contact = contactOf(settings.contact_email ?? null)
  await withAcme(context, access, async session => {
    const account = await session.account()
    if (account.status !== 'valid')
      throw new AdapterError('unauthorized', `The certificate authority reports the account as ${account.status}.`)
    // Some authorities keep no contacts, and never return them.
    if (account.contact.length > 0 || contact.length === 0) {
      if (account.contact.join() !== contact.join()) await session.setContact(settings.contact_email ?? null)
    }
  })
  const { host } = new URL(settings.directory_url)
  const profiles = directory.profiles.length > 0 ? `, profiles ${directory.profiles.join(', ')}` : ''
  return { detail: `Registered at ${host}${profiles}`, warnings: [] }
}
