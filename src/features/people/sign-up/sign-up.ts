import { eq, inArray } from 'drizzle-orm'
import { normalizeEmail } from '../../../access/email-address'
import { countRequest } from '../../../access/limiter'
import { signUps } from '../../../access/rate-limits'
import { memberships, plans, users, workspaces } from '../../../access/tables'
import { workspaceDefaults } from '../../../access/workspaces'
import { target } from '../../../core/audit'
import { record } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import { violation } from '../../../core/db/errors'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { Problem } from '../../../core/problem'
import { hashPassword, refuseWeakPassword } from '../passwords'
import { hasUsers, newMembership, newUser, actorOf, userAudits } from '../users'
import type { SignUpInput, SignUpReceipt, SignUpStatus } from './shapes'

/** Who can create an account, for the pages that offer sign-up. */
export async function signUpState(hub: Hub): Promise<SignUpStatus> {
  return { mode: hub.config.signUp, open: hub.config.signUp === 'open' && (await hasUsers(hub.read)) }
}

/**
 * Creates a user and a workspace of their own, on the default plan. If the email address already has an account, nothing is
 * created, and neither the response nor its timing reveals that.
 * @throws Problem 403 `sign_up_closed`, 429
 */
export async function signUp(ctx: Ctx, input: SignUpInput): Promise<SignUpReceipt> {
  const { hub } = ctx
  const { mode, open } = await signUpState(hub)
  // The first user is created with the setup link. A sign-up would close setup.
  if (!open) throw new Problem('sign_up_closed', closedDetail[mode], { fields: { mode } })
  countRequest(hub, signUps(ctx.context.ip ?? ''))
  const email = normalizeEmail(input.email)
  await refuseWeakPassword(email, input.password)
  const passwordHash = await hashPassword(input.password)
  // If a concurrent request takes the email address or the name first, the next attempt finds it.
  for (let attempt = 1; ; attempt++) {
    try {
      await record(hub, tx => createAccount(tx, ctx, { ...input, email, passwordHash }))
      return { email, sign_in_url: `${hub.baseUrl}/login` }
    } catch (error) {
      if (violation(error) !== 'unique' || attempt === 3) throw error
    }
  }
}

const closedDetail = {
  closed: 'Sign-up is closed (BAILIWICK_SIGN_UP is closed). Ask the operator for an invitation.',
  invitation: 'Only invited people can sign up. Ask the owner of a workspace for an invitation.',
  open: 'This installation has not been set up yet.',
}

async function createAccount(tx: Tx, ctx: Ctx, input: SignUpInput & { passwordHash: string }): Promise<RecordResult<void>> {
  const [known] = await tx.select().from(users).where(eq(users.email, input.email))
  if (known) {
    // Informs the user, like a failed sign-in.
    const reason = 'Someone tried to sign up with the email address of this user.'
    return {
      result: undefined,
      audits: await userAudits(tx, known, 'account.sign_up.create', ctx, { outcome: 'failure', reason }),
    }
  }
  const now = ctx.hub.clock.now()
  const user = newUser({ email: input.email, name: input.name, passwordHash: input.passwordHash }, now)
  const workspace = { id: newId('ws'), name: await freeName(tx, input.workspace_name) }
  const [plan] = await tx.select({ id: plans.id }).from(plans).where(eq(plans.isDefault, true))
  await tx.insert(users).values(user)
  const stamps = { version: 1, createdAt: now, updatedAt: now }
  await tx.insert(workspaces).values({ ...workspaceDefaults, ...workspace, ...stamps, planId: plan!.id })
  await tx.insert(memberships).values(newMembership(workspace.id, user.id, 'owner', now))
  return {
    result: undefined,
    audits: [
      {
        workspaceId: workspace.id,
        action: 'account.sign_up.create',
        actor: actorOf(user),
        context: ctx.context,
        targets: [target('workspace', workspace), target('user', user)],
        after: { email: user.email, name: user.name, role: 'owner', workspace: workspace.name, plan: plan!.id },
      },
    ],
  }
}

const maxNameLength = 100

/** The requested name, with a number appended if it is taken. An error would reveal the names of other workspaces. */
async function freeName(tx: Tx, wanted: string): Promise<string> {
  const numbered = [wanted, ...Array.from({ length: 20 }, (_, n) => `${wanted.slice(0, maxNameLength - 3)} ${n + 2}`)]
  const taken = await tx.select({ name: workspaces.name }).from(workspaces).where(inArray(workspaces.name, numbered))
  const free = numbered.find(name => !taken.some(one => one.name === name))
  return free ?? `${wanted.slice(0, maxNameLength - 11)} ${newId('ws').slice(-10)}`
}
