/** `archivolt user …`: accounts, for whoever looks after the machine and cannot sign in. */
import { type AccountRecord, type App, defineCommand, errors } from 'archivolt'
import { isName } from './account-routes.ts'
import { refuseWeak } from './password-rule.ts'

export const addAccount = defineCommand({
  name: 'user add',
  summary: 'Add an account; its password is asked for (stop the server first)',
  takes: ['name'],
  options: {
    admin: { type: 'boolean', meaning: 'it may do everything' },
    download: { type: 'boolean', meaning: 'it may download' },
  },
  async run({ taken: [username = ''], options, say, secret }, { accounts }: App) {
    if (!isName(username)) throw errors.badRequest('A name has up to 150 letters, digits and . @ + - _')
    const password = await secret('Password')
    await refuseWeak(password, username)
    await accounts.create({
      username,
      password,
      isStaff: options.admin === true,
      mayDownload: options.download === true,
    })
    say(`There is an account ${username} now${options.admin ? ', an admin' : ''}`)
  },
})

export const setPassword = defineCommand({
  name: 'user password',
  summary: 'Give an account a new password; it is signed out everywhere (stop the server first)',
  takes: ['name'],
  async run({ taken: [username], say, secret }, { accounts }: App) {
    const account = named(username, accounts)
    const password = await secret('New password')
    await refuseWeak(password, account.username)
    await accounts.change(account.id, { password })
    say(`${username} has a new password${account.is_active ? '' : ', and is still switched off'}`)
  },
})

export const removeTotp = defineCommand({
  name: 'user totp-off',
  summary: 'Let an account sign in without its authenticator app again (stop the server first)',
  takes: ['name'],
  async run({ taken: [username], say }, { accounts }: App) {
    const { id, has_totp } = named(username, accounts)
    await accounts.change(id, { totp: null })
    say(has_totp ? `${username} signs in with the password alone now` : `${username} has no authenticator app`)
  },
})

function named(username: string | undefined, accounts: App['accounts']): AccountRecord {
  const account = accounts.list().find((one) => one.username === username)
  if (account) return account
  const names = accounts.list().map((one) => one.username)
  throw errors.badRequest(`There is no account ${username}; there are ${names.join(', ')}`)
}
