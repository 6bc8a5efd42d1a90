/** Issues and revokes tokens: an account's own token, and access tokens in addition to it. */
import { type Accounts, errors, SCOPES, type Scope, say, tellSecurity } from 'archivolt'
import { refuseOutdated } from './proof.ts'
import { type AccountsState, recordOf, write } from './state.ts'

export const tokensOf = (
  state: AccountsState,
): Pick<Accounts, 'token' | 'revokeToken' | 'accessTokens' | 'addAccessToken' | 'revokeAccessToken'> => {
  const { log, users, tokens, accessTokens } = state
  return {
    async token(id, proof) {
      refuseOutdated(proof)
      const known = tokens.show(id)
      if (known !== undefined) return known
      const made = await write(state, () => {
        users.existing(id)
        refuseOutdated(proof)
        return tokens.make(id)
      })
      tellSecurity(log, 'token_made', { account: id })
      return made
    },

    async revokeToken(id) {
      await write(state, () => {
        users.existing(id)
        tokens.revoke(id)
      })
      tellSecurity(log, 'token_revoked', { account: id })
    },

    accessTokens: accessTokens.list,

    async addAccessToken(id, asked) {
      const made = await write(state, () => {
        const { is_staff, may_download } = recordOf(state, users.existing(id))
        const highest: Scope = is_staff ? 'admin' : may_download ? 'download' : 'watch'
        if (SCOPES.indexOf(asked.scope) > SCOPES.indexOf(highest))
          throw errors.badRequest(say`This account may not have a token with the scope ${{ scope: asked.scope }}`, {
            fields: { scope: say`can be at most ${{ highest }} for this account` },
          })
        return accessTokens.make(id, asked)
      })
      tellSecurity(log, 'token_made', { account: id, tokenId: made.id, scope: made.scope })
      return made
    },

    async revokeAccessToken(id, tokenId) {
      await write(state, () => accessTokens.revoke(id, tokenId))
      tellSecurity(log, 'token_revoked', { account: id, tokenId })
    },
  }
}
