/** Sign-in codes: a television shows a short code, and somebody who is signed in on a phone approves it. */
import { definePlugin } from 'archivolt'
import { openSignInCodes, type SignInCodes, signInCodeTable } from './codes.ts'
import { openLimits, type SignInCodeLimits } from './limits.ts'
import { approveCode, askForCode, enterWithCode, refuseCode, showCode } from './routes.ts'

export default definePlugin({
  name: 'signincode',
  needs: ['user'],
  migrations: [signInCodeTable],
  services: (app) => ({ signInCodes: openSignInCodes(app), signInCodeLimits: openLimits(app.clock) }),
  routes: [askForCode, enterWithCode, showCode, approveCode, refuseCode],
})

declare module 'archivolt' {
  interface Services {
    signincode: {
      /** Codes that screens show, until somebody has answered them. */
      signInCodes: SignInCodes
      /** How often codes may be requested, looked up and redeemed. */
      signInCodeLimits: SignInCodeLimits
    }
  }
}
