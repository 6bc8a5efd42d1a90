/** `archivolt user …`: manages accounts without signing in, for the person who runs the machine. */
import { type AccountRecord, type App, defineCommand, errors } from 'archivolt'
import { isName } from './account-routes.ts'
import { refuseWeak } from './password-rule.ts'

export const addAccount = defineCommand({
  name: 'user add',
  summary: 'Add an account; asks for its password (stop the server first)',
  takes: ['name'],
  options: {
    admin: { type: 'boolean', meaning: 'make the account an admin' },
    download: { type: 'boolean', meaning: 'allow downloads' },
  },
  async run({ taken: [username = ''], options, say, secret }, { accounts }: App) {
    if (!isName(username)) throw errors.badRequest('A name may have up to 150 letters, digits and . @ + - _')
    const password = await secret('Password')
    await refuseWeak(password, username)
    await accounts.create({
      username,
      password,
      isStaff: options.admin === true,
      mayDownload: options.download === true,
    })
    say(`Account ${username} added${options.admin ? ' as an admin' : ''}`)
  },
})

export const setPassword = defineCommand({
  name: 'user password',
  summary: 'Set a new password and sign the account out everywhere (stop the server first)',
  takes: ['name'],
  async run({ taken: [username], say, secret }, { accounts }: App) {
    const account = named(username, accounts)
    const password = await secret('New password')
    await refuseWeak(password, account.username)
    await accounts.change(account.id, { password })
    say(`${username} has a new password${account.is_active ? '' : ', but is still locked'}`)
  },
})

export const removeTotp = defineCommand({
  name: 'user totp-off',
  summary: 'Turn off the authenticator app of an account (stop the server first)',
  takes: ['name'],
  async run({ taken: [username], say }, { accounts }: App) {
    const { id, has_totp } = named(username, accounts)
    await accounts.change(id, { totp: null })
    say(has_totp ? `${username} now signs in with the password only` : `${username} has no authenticator app`)
  },
})

function named(username: string | undefined, accounts: App['accounts']): AccountRecord {
  const account = accounts.list().find((one) => one.username === username)
  if (account) return account
  const names = accounts.list().map((one) => one.username)
  throw errors.badRequest(`No account named “${username}”. Accounts: ${names.join(', ')}`)
}
