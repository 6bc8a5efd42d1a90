/** Issues tokens: an account's own one, and access tokens beside it. */
import { errors } from '../error.ts'
import { say } from '../say.ts'
import { tellSecurity } from '../security-log.ts'
import type { AccessTokenRecord, NewAccessToken } from './access-tokens.ts'
import { refuseOutdated } from './proof.ts'
import { highestScope, includes } from './scope.ts'
import { type Book, recordOf, write } from './state.ts'
import type { Proof } from './types.ts'

/** As `Accounts.token` says. */
export async function token(book: Book, id: number, proof?: Proof): Promise<string> {
  refuseOutdated(proof)
  const known = book.tokens.show(id)
  if (known !== undefined) return known
  const made = await write(book, () => {
    book.users.existing(id)
    refuseOutdated(proof)
    return book.tokens.make(id)
  })
  tellSecurity(book.log, 'token_made', { account: id })
  return made
}

export async function revokeToken(book: Book, id: number): Promise<void> {
  await write(book, () => {
    book.users.existing(id)
    book.tokens.revoke(id)
  })
  tellSecurity(book.log, 'token_revoked', { account: id })
}

/** As `Accounts.addAccessToken` says. */
export async function addAccessToken(
  book: Book,
  id: number,
  asked: NewAccessToken,
): Promise<AccessTokenRecord & { token: string }> {
  const made = await write(book, () => {
    const { is_staff, may_download } = recordOf(book, book.users.existing(id))
    const highest = highestScope({ isAdmin: is_staff, mayDownload: may_download })
    if (!includes(highest, asked.scope))
      throw errors.badRequest(say`This account may not have a token with the scope ${{ scope: asked.scope }}`, {
        fields: { scope: say`goes up to ${{ highest }} for this account` },
      })
    return book.accessTokens.make(id, asked)
  })
  tellSecurity(book.log, 'token_made', { account: id, tokenId: made.id, scope: made.scope })
  return made
}

/** As `Accounts.revokeAccessToken` says. */
export async function revokeAccessToken(book: Book, id: number, tokenId: number): Promise<void> {
  await write(book, () => book.accessTokens.revoke(id, tokenId))
  tellSecurity(book.log, 'token_revoked', { account: id, tokenId })
}
