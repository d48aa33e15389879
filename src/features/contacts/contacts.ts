import { isDeepStrictEqual } from 'node:util'
import { Type } from '@sinclair/typebox'
import { refuseOverLimit } from '../../access/plans'
import { change } from '../../core/change'
import type { ChangeResult } from '../../core/change-result'
import type { Ctx } from '../../core/ctx'
import type { Reader, Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { listingOf, listPage } from '../../core/list'
import { containsFilter, idsFilter, searchFilter, textFilter, timeFilters } from '../../core/list-filters'
import { editableView, inputColumns, memberView } from '../../core/members'
import { mergePatch } from '../../core/merge-patch'
import { sealedIn } from '../../core/outgoing/signing-secrets'
import { deleteRow, findRow, insertRow, lockRow, saveRow, targetOf } from '../../core/rows'
import { Tag } from '../../core/shapes'
import { rowsOf } from '../../registry'
import { addressNeeds } from './address-rules'
import { countryCodes } from './countries'
import { registrarKinds } from './registrar-kinds'
import { contactRequirements } from './requirements'
import { validContact } from './rules'
import {
  Fields,
  openMembers,
  personalMembers,
  type ContactData,
  type ContactInput,
  type ContactOptionsView,
  type ContactPatch,
  type ContactRequirementsView,
  type ContactView,
  type PersonalData,
  type RequirementsQuery,
} from './shapes'
import { contacts } from './tables'

type ContactRow = typeof contacts.$inferSelect

const rows = rowsOf('contact', contacts, { label: 'label' })

export const contactListing = listingOf('contacts', contacts, {
  isSmall: true,
  filters: {
    country: textFilter(contacts.country, 'Only contacts in this country.'),
    tag: containsFilter(contacts.tags, Type.String({ ...Tag, description: 'Only contacts with this tag.' })),
    ids: idsFilter(contacts.id),
    q: searchFilter(
      [contacts.label],
      'Only contacts whose label contains all words of this text. Personal data can’t be searched.',
    ),
    ...timeFilters('created_at', contacts.createdAt),
  },
  sorts: ['label', 'created_at', 'updated_at'],
})

export const listContacts = (ctx: Ctx, query: Record<string, unknown>) =>
  listPage(ctx, contactListing, query, async row => view(row, await dataOf(ctx, row)))

/** @throws Problem 404 */
export async function getContact(ctx: Ctx, id: string): Promise<ContactView> {
  const row = await findRow(ctx.hub.read, ctx, rows, id)
  return view(row, await dataOf(ctx, row))
}

/** @throws Problem 409 if the workspace has reached the limit, 422 */
export async function createContact(ctx: Ctx, input: ContactInput): Promise<ContactView> {
  const data = validContact(withDefaults(input))
  return await change(ctx, 'domains.contact.create', async tx => {
    await refuseOverLimit(tx, ctx, 'contact')
    const id = newId('con')
    const personalSealed = await seal(tx, ctx, { id, workspaceId: ctx.workspaceId }, data)
    return recorded(await insertRow(tx, ctx, rows, { id, ...inputColumns(openMembers, data), personalSealed }), null, data)
  })
}

/** @throws Problem 404, 412, 422 */
export const updateContact = (ctx: Ctx, id: string, patch: ContactPatch): Promise<ContactView> =>
  change(ctx, 'domains.contact.update', async tx => {
    const row = await lockRow(tx, ctx, rows, id)
    const before = await dataOf(ctx, row, tx)
    const data = validContact(withDefaults(mergePatch(before, patch)))
    const isSame = isDeepStrictEqual(personalOf(data), personalOf(before))
    const after = await saveRow(tx, ctx, rows, row, {
      ...inputColumns(openMembers, data),
      personalSealed: isSame ? row.personalSealed : await seal(tx, ctx, row, data),
    })
    return recorded(after, { row, data: before }, data)
  })

/** @throws Problem 404, 412 */
export const deleteContact = (ctx: Ctx, id: string): Promise<void> =>
  deleteRow(ctx, 'domains.contact.delete', rows, id, row => memberView(openMembers, row))

/** What a contact lacks to register domains of a top-level domain through a registrar. @throws Problem 404 */
export async function getContactRequirements(ctx: Ctx, id: string, query: RequirementsQuery): Promise<ContactRequirementsView> {
  const row = await findRow(ctx.hub.read, ctx, rows, id)
  const tld = query.tld?.replaceAll(/^\.|\.$/g, '') ?? null
  const kind = query.registrar_kind ?? null
  const { problems, sources } = contactRequirements(await dataOf(ctx, row), tld, kind)
  return { tld, registrar_kind: kind, complete: problems.length === 0, missing: problems, sources }
}

/** What a form for contacts needs. */
export const contactOptions = (): ContactOptionsView => ({
  countries: countryCodes.map(code => {
    const { state, postalCode } = addressNeeds(code)
    return { code, needs_state: state, needs_postal_code: postalCode }
  }),
  fields: Fields,
  registrar_kinds: [...registrarKinds],
})

const view = (row: ContactRow, data: ContactData): ContactView => ({
  id: row.id,
  ...data,
  // No domain and no registrar refers to a contact yet.
  registrar_ids: {},
  email_verified: 'unknown',
  used_by: 0,
  ...editableView(row),
})

/** What was done to a contact. The audit log tells which personal data changed, but not its values. */
function recorded(
  row: ContactRow,
  before: { row: ContactRow; data: ContactData } | null,
  data: ContactData,
): ChangeResult<ContactView> {
  const names = Object.keys(personalMembers) as (keyof PersonalData)[]
  const changed = names.filter(name => !isDeepStrictEqual(data[name], before?.data[name]))
  return {
    result: view(row, data),
    target: targetOf(rows, row),
    unchanged: before?.row === row,
    before: before && memberView(openMembers, before.row),
    after: { ...memberView(openMembers, row), ...(changed.length > 0 && { changed_fields: changed }) },
  }
}

/** The data of a contact that a request contains, with defaults for what it doesn’t. */
function withDefaults(input: Partial<ContactData>): ContactData {
  const declared = Object.entries({ ...openMembers, ...personalMembers })
  const defaults = declared.flatMap(([name, one]) => ('default' in one ? [[name, one.default]] : []))
  return { ...Object.fromEntries(defaults), ...input } as ContactData
}

const personalOf = (data: ContactData): PersonalData =>
  Object.fromEntries(Object.keys(personalMembers).map(name => [name, data[name as keyof PersonalData]])) as PersonalData

type Owner = Pick<ContactRow, 'id' | 'workspaceId'>
const sealedPlace = (row: Owner) => sealedIn(contacts, row, 'personal_sealed')

const seal = (tx: Tx, ctx: Ctx, row: Owner, data: ContactData): Promise<string> =>
  ctx.hub.keys.seal(tx, sealedPlace(row), JSON.stringify(personalOf(data)))

async function dataOf(ctx: Ctx, row: ContactRow, read?: Reader): Promise<ContactData> {
  const personal = JSON.parse(await ctx.hub.keys.open(sealedPlace(row), row.personalSealed, read)) as PersonalData
  return { ...memberView(openMembers, row), ...personal }
}
