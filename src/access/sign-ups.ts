import { eq, inArray } from 'drizzle-orm'
import { target } from '../core/audit'
import { record, type AuditDraft, type Recorded } from '../core/change'
import type { Ctx } from '../core/ctx'
import { violation } from '../core/db/errors'
import type { Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { newId } from '../core/ids'
import { Problem, tryAgain } from '../core/problem'
import { limiterOf } from './limiter'
import { loginOf } from './logins'
import { hashPassword, refuseLoginAsPassword } from './passwords'
import { signUps } from './rate-limits'
import type { SignUp, SignUpReceipt, SignUpState } from './sign-up-shapes'
import { memberships, plans, users, workspaces } from './tables'
import { hasUsers, membershipOf } from './users'

/** Who may make a login of their own, for the page that offers it. */
export async function signUpState(hub: Hub): Promise<SignUpState> {
  return { mode: hub.config.signUp, open: hub.config.signUp === 'open' && (await hasUsers(hub.read)) }
}

/**
 * Makes a person and a workspace of their own, on the default plan. Where there is such a login already nothing is made, and
 * neither the answer nor its time tells so: who the answer is for finds out by signing in.
 * @throws Problem 403 `sign_up_closed`, 429
 */
export async function signUp(ctx: Ctx, input: SignUp): Promise<SignUpReceipt> {
  const { hub } = ctx
  const { mode, open } = await signUpState(hub)
  // The first user is made by the setup link, which a sign-up would close.
  if (!open) throw new Problem('sign_up_closed', closedBecause[mode], { members: { mode } })
  const verdict = limiterOf(hub).take(signUps(ctx.context.ip ?? ''), hub.clock.now())
  if (!verdict.allowed) throw tryAgain(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated })
  const email = loginOf(input.email)
  refuseLoginAsPassword(email, input.password)
  const passwordHash = await hashPassword(input.password)
  // Whoever loses a race for the e-mail or the name finds at the second look what the first one made.
  for (let tries = 1; ; tries++) {
    try {
      await record(hub, tx => signedUp(tx, ctx, { ...input, email, passwordHash }))
      return { email, sign_in_url: `${hub.baseUrl}/login` }
    } catch (error) {
      if (violation(error) !== 'unique' || tries === 3) throw error
    }
  }
}

const closedBecause = {
  closed: 'Nobody can sign up here (BAILIWICK_SIGN_UP is closed); ask the operator for an invitation.',
  invitation: 'Only who was invited to a workspace can sign up here; ask its owner for an invitation.',
  open: 'This installation has not been set up yet.',
}

async function signedUp(tx: Tx, ctx: Ctx, input: SignUp & { passwordHash: string }): Promise<Recorded<void>> {
  const [known] = await tx.select().from(users).where(eq(users.email, input.email))
  if (known) return { result: undefined, audits: await triedAgain(tx, ctx, known) }
  const now = ctx.hub.clock.now()
  const stamps = { version: 1, createdAt: now, updatedAt: now }
  const user = { id: newId('usr'), email: input.email, name: input.name, passwordHash: input.passwordHash }
  const workspace = { id: newId('ws'), name: await freeName(tx, input.workspace_name) }
  const [plan] = await tx.select({ id: plans.id }).from(plans).where(eq(plans.isDefault, true))
  await tx.insert(users).values({ ...user, ...stamps, isOperator: false })
  await tx.insert(workspaces).values({
    ...workspace,
    ...stamps,
    planId: plan!.id,
    isOperator: false,
    networkPolicy: { allow_private: false, allow_ranges: [] },
    limitOverrides: {},
  })
  await tx.insert(memberships).values(membershipOf(workspace.id, user.id, 'owner', now))
  return {
    result: undefined,
    audits: [
      {
        workspaceId: workspace.id,
        action: 'account.sign_up.create',
        actor: { type: 'user', id: user.id, name: user.name, hint: null },
        context: ctx.context,
        targets: [target('workspace', workspace), target('user', user)],
        after: { email: user.email, name: user.name, role: 'owner', workspace: workspace.name, plan: plan!.id },
      },
    ],
  }
}

/** Whose login it is learns of it in their own log, as of a wrong password. */
async function triedAgain(tx: Tx, ctx: Ctx, user: { id: string; name: string }): Promise<AuditDraft[]> {
  const of = await tx.select({ id: memberships.workspaceId }).from(memberships).where(eq(memberships.userId, user.id))
  return of.map(one => ({
    workspaceId: one.id,
    action: 'account.sign_up.create',
    outcome: 'failure',
    actor: ctx.actor,
    context: ctx.context,
    targets: [target('user', user)],
    reason: 'Somebody tried to sign up with the e-mail of this user.',
  }))
}

const longestName = 100

/** The name that was asked for, with a number behind it where it is taken: a refusal would tell who else is here. */
async function freeName(tx: Tx, wanted: string): Promise<string> {
  const numbered = [wanted, ...Array.from({ length: 20 }, (_, n) => `${wanted.slice(0, longestName - 3)} ${n + 2}`)]
  const taken = await tx.select({ name: workspaces.name }).from(workspaces).where(inArray(workspaces.name, numbered))
  const free = numbered.find(name => !taken.some(one => one.name === name))
  return free ?? `${wanted.slice(0, longestName - 11)} ${newId('ws').slice(-10)}`
}
