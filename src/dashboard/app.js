// The first pages of the dashboard: setup, sign-in and a look at the workspace. They speak /v1 only, with the session's cookie.

const byId = id => document.getElementById(id)
const refreshMs = 15_000
const chosenWorkspace = 'bailiwick.workspace'

/** An answer of the API that is an error. */
class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? 'The hub did not answer as expected.')
    this.status = status
    this.code = problem.code
    this.errors = problem.errors ?? []
  }
}

async function call(method, path, body) {
  const workspace = sessionStorage.getItem(chosenWorkspace)
  const answer = await fetch(`/v1${path}`, {
    method,
    headers: {
      accept: 'application/json',
      ...(method !== 'GET' && { 'bailiwick-csrf': '1' }),
      ...(body && { 'content-type': 'application/json' }),
      ...(workspace && { 'bailiwick-workspace': workspace }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const json = /json/.test(answer.headers.get('content-type') ?? '') && text ? JSON.parse(text) : {}
  if (!answer.ok) throw new Refused(answer.status, json)
  return json
}

let refreshing = null

// Where the link of a message led, also when the way there is by the sign-in.
const wanted = /^\/incidents\/(inc_[0-9a-z]+)\/?$/.exec(location.pathname)?.[1] ?? null

async function start() {
  try {
    if (location.pathname === '/invite') return await showInvite()
    const me = await call('GET', '/users/me')
    if (wanted !== null) return await showIncident(me, wanted)
    if (location.pathname !== '/') history.replaceState(null, '', '/')
    await showHome(me)
  } catch (error) {
    if (!(error instanceof Refused) || error.status >= 500 || error.status === 429) return fail(error)
    // The chosen workspace may be one the user has left since.
    if (error.status === 404 && sessionStorage.getItem(chosenWorkspace)) {
      sessionStorage.removeItem(chosenWorkspace)
      return start()
    }
    const { open } = await call('GET', '/setup').catch(() => ({ open: false }))
    if (open) return showSetup()
    return location.pathname === '/sign-up' ? showSignUp() : showLogin()
  }
}

function show(id, path) {
  clearInterval(refreshing)
  for (const one of ['setup', 'login', 'sign-up', 'invite', 'incident', 'home']) byId(one).hidden = one !== id
  byId('who').hidden = id !== 'home' && id !== 'incident'
  byId('failure').hidden = true
  if (location.pathname !== path) history.replaceState(null, '', path + (path === '/setup' ? location.hash : ''))
}

function showSetup() {
  show('setup', '/setup')
  document.title = 'Set up · Bailiwick'
  const token = location.hash.slice(1)
  byId('setup-token').value = token
  byId('setup-token-field').hidden = token !== ''
  byId(token ? 'setup-name' : 'setup-token').focus()
}

function showLogin() {
  show('login', '/login')
  document.title = 'Sign in · Bailiwick'
  byId('login-email').focus()
  void offerSignUp()
}

async function offerSignUp() {
  const { open } = await call('GET', '/sign-up').catch(() => ({ open: false }))
  byId('to-sign-up').hidden = !open
  return open
}

async function showSignUp() {
  if (!(await offerSignUp())) return showLogin()
  show('sign-up', '/sign-up')
  document.title = 'Make a login · Bailiwick'
  byId('sign-up-name').focus()
}

// The code is behind #: it reaches the hub in bodies alone, never in an address that is logged.
const inviteCode = () => location.hash.slice(1)

async function showInvite() {
  show('invite', '/invite')
  document.title = 'Invitation · Bailiwick'
  for (const id of ['invite-gone', 'invite-open', 'invite-other']) byId(id).hidden = true
  let invitation
  try {
    invitation = await call('POST', '/invitations/preview', { code: inviteCode() })
  } catch (error) {
    if (!(error instanceof Refused)) return fail(error)
    byId('invite-gone').textContent = error.message
    byId('invite-gone').hidden = false
    return
  }
  const me = await ownUser()
  byId('invite-title').textContent = `Join ${plain(invitation.workspace)}`
  byId('invite-email').textContent = invitation.email
  byId('invite-for').textContent = invitation.email
  byId('invite-login').value = invitation.email
  byId('invite-role').textContent = invitation.role
  byId('invite-end').replaceChildren(time(invitation.expires_at, ''))
  byId('invite-who').textContent = me?.email ?? ''
  byId('invite-fields').hidden = me !== null
  byId('invite-password-hint').hidden = !invitation.makes_login
  byId('invite-login-needed').hidden = invitation.makes_login
  const other = me !== null && me.email !== invitation.email
  byId('invite-other').hidden = !other
  byId('invite-open').hidden = other
  if (me === null) byId('invite-name').focus()
}

/** The user who is signed in, or null. */
async function ownUser() {
  sessionStorage.removeItem(chosenWorkspace)
  try {
    return await call('GET', '/users/me')
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return null
    throw error
  }
}

/** The incident that a message told of, in whichever of the user's workspaces it is. */
async function showIncident(me, id) {
  show('incident', `/incidents/${id}`)
  document.title = 'Incident · Bailiwick'
  byId('who-name').textContent = nameOf(me)
  const chosen = sessionStorage.getItem(chosenWorkspace)
  for (const { id: workspace } of me.workspaces.toSorted((a, b) => (b.id === chosen) - (a.id === chosen))) {
    sessionStorage.setItem(chosenWorkspace, workspace)
    try {
      return fillIncident(await call('GET', `/incidents/${id}`))
    } catch (error) {
      if (!(error instanceof Refused) || ![403, 404].includes(error.status)) return fail(error)
    }
  }
  byId('incident-title').textContent = 'There is no such incident, or you may not see it'
  byId('incident-facts').replaceChildren()
  byId('incident-acknowledge').hidden = true
}

function fillIncident(incident) {
  document.title = `${plain(incident.title)} · Bailiwick`
  byId('incident-title').textContent = incident.title
  const facts = [
    ['Status', status(incident.status)],
    ['Severity', incident.severity],
    ['Error', incident.cause],
    ['Since', time(incident.started_at, '–')],
    ['Until', time(incident.resolved_at, null)],
    ['Acknowledged by', incident.acknowledged_by?.name ?? null],
  ].filter(([, value]) => value)
  byId('incident-facts').replaceChildren(
    ...facts.flatMap(([name, value]) => [element('dt', {}, [name]), element('dd', {}, [value])]),
  )
  byId('incident-timeline').replaceChildren(
    ...incident.timeline.map(one =>
      element('tr', {}, [
        element('th', { scope: 'row' }, [one.kind.replaceAll('_', ' ')]),
        element('td', {}, [one.text ?? '']),
        element('td', {}, [time(one.at, '–')]),
      ]),
    ),
  )
  byId('incident-acknowledge').hidden = incident.status !== 'open'
}

const nameOf = me => `${me.name} (${me.email})`

async function showHome(me) {
  show('home', '/')
  document.title = 'Bailiwick'
  byId('who-name').textContent = nameOf(me)
  byId('insecure').hidden = location.protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)
  const current = me.workspaces.find(one => one.id === sessionStorage.getItem(chosenWorkspace)) ?? me.workspaces[0]
  if (current) sessionStorage.setItem(chosenWorkspace, current.id)
  byId('home-title').textContent = current ? `Workspace ${plain(current.name)}` : 'No workspace'
  byId('workspace-choice').hidden = me.workspaces.length < 2
  byId('workspace').replaceChildren(
    ...me.workspaces.map(one => new Option(`${plain(one.name)} (${one.role})`, one.id, false, one === current)),
  )
  await refresh()
  refreshing = setInterval(() => {
    if (!document.hidden) void refresh()
  }, refreshMs)
}

/** A name without the characters that turn the direction of a text, and with it what stands behind the name. */
const plain = name => name.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '')

/** Says that the workspace is suspended in place of what is in it; null when it is not. */
function tellSuspended(reason) {
  byId('suspended').textContent = reason ?? ''
  byId('suspended').hidden = reason === null
  byId('home-cards').hidden = reason !== null
}

async function refresh() {
  try {
    await Promise.all([
      list(
        'incidents',
        '/incidents?limit=20',
        'No incidents. They open by themselves when a monitor or a heartbeat goes down.',
        one => [link(`/incidents/${one.id}`, one.title), status(one.status), one.severity, time(one.started_at, '–')],
      ),
      list(
        'monitors',
        '/monitors?limit=50',
        'No monitors yet. Make one with POST /v1/monitors: {"target": "https://example.com"} is enough.',
        one => [one.name, status(one.status), one.target, time(one.last_check_at, 'never')],
      ),
      list(
        'heartbeats',
        '/heartbeats?limit=50',
        'No heartbeats yet. Make one with POST /v1/heartbeats; the handbook has an example.',
        one => [one.name, status(one.status), time(one.last_ping_at, 'never'), time(one.expected_at, '–')],
      ),
      list(
        'deliveries',
        '/webhook-deliveries?limit=20',
        'No deliveries yet. They appear when a webhook endpoint has been told of an event.',
        one => [one.event, status(one.status), String(one.attempt_count), time(one.created_at, '–')],
      ),
      list('tokens', '/tokens?limit=100&sort=-id', 'No tokens yet.', one =>
        one.revoked_at
          ? null
          : [
              one.name,
              code(one.hint),
              one.mode === 'scoped' ? one.permissions.join(', ') : one.mode === 'full' ? 'everything' : 'read everything',
              time(one.last_used_at, 'never'),
            ],
      ),
    ])
    tellSuspended(null)
  } catch (error) {
    if (error instanceof Refused && error.code === 'workspace_suspended') return tellSuspended(error.message)
    if (error instanceof Refused && error.status === 401) return showLogin()
    fail(error)
  }
}

async function list(id, path, empty, cells) {
  let page
  try {
    page = await call('GET', path)
  } catch (error) {
    if (!(error instanceof Refused) || ![403, 404].includes(error.status) || error.code === 'workspace_suspended') throw error
    page = { data: [] }
    empty = error.status === 403 ? 'Your role in this workspace does not show these.' : 'Not available.'
  }
  const rows = page.data
    .map(cells)
    .filter(Boolean)
    .map(row =>
      element(
        'tr',
        {},
        row.map((cell, place) => element(place === 0 ? 'th' : 'td', place === 0 ? { scope: 'row' } : {}, [cell])),
      ),
    )
  byId(id).replaceChildren(...rows)
  byId(id).closest('.table').hidden = rows.length === 0
  byId(`${id}-empty`).hidden = rows.length > 0
  byId(`${id}-empty`).textContent = empty
}

// A sign beside the word: a colour alone tells nothing to those who do not see it.
const signs = {
  up: ['●', 'good'],
  resolved: ['●', 'good'],
  open: ['▲', 'bad'],
  acknowledged: ['◆', 'fair'],
  degraded: ['◆', 'fair'],
  delivered: ['●', 'good'],
  down: ['▲', 'bad'],
  exhausted: ['▲', 'bad'],
  expired: ['▲', 'bad'],
  grace: ['◆', 'fair'],
  retrying: ['◆', 'fair'],
  held: ['◆', 'fair'],
}

function status(word) {
  const [sign, look] = signs[word] ?? ['○', 'calm']
  return element('span', { class: `status ${look}` }, [
    element('span', { 'aria-hidden': 'true' }, [sign]),
    ` ${word.replaceAll('_', ' ')}`,
  ])
}

const link = (href, text) => element('a', { href }, [text])
const code = text => element('code', {}, [text])

function time(at, otherwise) {
  return at ? element('time', { datetime: at, title: at }, [new Date(at).toLocaleString()]) : otherwise
}

function element(name, attributes, children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

function fail(error) {
  byId('failure').textContent =
    error instanceof Refused ? error.message : 'The hub cannot be reached. The page tries again by itself.'
  byId('failure').hidden = false
}

/** Sends a form, and puts what is wrong with it next to the fields. */
function onSubmit(name, send) {
  const form = document.querySelector(`form[data-form="${name}"]`)
  form.addEventListener('submit', async event => {
    event.preventDefault()
    const button = form.querySelector('button[type="submit"]')
    clearErrors(form)
    button.disabled = true
    try {
      await send(Object.fromEntries(new FormData(form)), form)
    } catch (error) {
      showErrors(form, error)
    } finally {
      button.disabled = false
    }
  })
}

function clearErrors(form) {
  const summary = form.querySelector('.wrong')
  summary.hidden = true
  summary.textContent = ''
  for (const field of form.elements) {
    field.removeAttribute('aria-invalid')
    const place = byId(`${field.id}-error`)
    if (place) place.textContent = ''
  }
}

function showErrors(form, error) {
  if (!(error instanceof Refused)) console.error(error)
  const placed = (error.errors ?? []).filter(one => {
    const field = form.elements.namedItem(one.pointer.replace(/^#\//, ''))
    const place = field && byId(`${field.id}-error`)
    if (!place || field.closest('[hidden]')) return false
    field.setAttribute('aria-invalid', 'true')
    place.textContent = `${document.querySelector(`label[for="${field.id}"]`).textContent} ${one.detail}`
    return true
  })
  if (placed.length > 0) return form.querySelector('[aria-invalid="true"]').focus()
  const summary = form.querySelector('.wrong')
  summary.textContent = error instanceof Refused ? error.message : 'The hub cannot be reached. Try again.'
  summary.hidden = false
}

onSubmit('setup', async input => {
  await call('POST', '/setup', input)
  history.replaceState(null, '', '/')
  await start()
})

onSubmit('login', async (input, form) => {
  sessionStorage.removeItem(chosenWorkspace)
  await call('POST', '/sessions', input)
  form.reset()
  await start()
})

onSubmit('sign-up', async (input, form) => {
  await call('POST', '/sign-up', input)
  const { email, password } = input
  form.reset()
  try {
    await call('POST', '/sessions', { email, password })
  } catch (error) {
    // There was such a login before, and the sign-up made nothing. The answer does not say so, and neither does this.
    if (!(error instanceof Refused) || error.status !== 401) throw error
    showLogin()
    byId('login-email').value = email
    const summary = document.querySelector('form[data-form="login"] .wrong')
    summary.textContent = 'If you have a login with this e-mail, sign in with its password.'
    summary.hidden = false
    return
  }
  await start()
})

onSubmit('invite', async (input, form) => {
  const code = inviteCode()
  const session = await call('POST', '/invitations/accept', byId('invite-fields').hidden ? { code } : { code, ...input })
  form.reset()
  sessionStorage.setItem(chosenWorkspace, session.workspace_id)
  history.replaceState(null, '', '/')
  await start()
})

onSubmit('token', async (input, form) => {
  const { token } = await call('POST', '/tokens', input)
  form.reset()
  byId('new-token-value').value = token
  byId('new-token').hidden = false
  byId('new-token').focus()
  await refresh()
})

byId('copy-token').addEventListener('click', async () => {
  const field = byId('new-token-value')
  field.select()
  // The clipboard is there only where the page came by HTTPS or from this machine; else the selection is what can be copied.
  await navigator.clipboard?.writeText(field.value)
  if (navigator.clipboard) byId('copy-token').textContent = 'Copied'
})

byId('incident-acknowledge').addEventListener('click', async () => {
  try {
    await call('POST', `/incidents/${wanted}/acknowledge`, {})
    fillIncident(await call('GET', `/incidents/${wanted}`))
  } catch (error) {
    fail(error)
  }
})

byId('workspace').addEventListener('change', event => {
  sessionStorage.setItem(chosenWorkspace, event.target.value)
  byId('new-token').hidden = true
  void start()
})

byId('invite-sign-out').addEventListener('click', async () => {
  try {
    await call('DELETE', '/sessions')
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 401) return fail(error)
  }
  await showInvite()
})

byId('sign-out').addEventListener('click', async () => {
  try {
    await call('DELETE', '/sessions')
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 401) return fail(error)
  }
  sessionStorage.removeItem(chosenWorkspace)
  byId('new-token-value').value = ''
  byId('new-token').hidden = true
  showLogin()
})

// Another link pasted into the same tab loads nothing anew.
addEventListener('hashchange', () => {
  if (location.pathname === '/invite') void start()
})

void start()
