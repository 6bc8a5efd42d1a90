/**
 * OpenID Connect: people sign in with an account at a provider, whose groups may determine their rights. Inactive
 * without the setting AV_OIDC_ISSUER.
 */
import { definePlugin } from 'archivolt'
import { type AwayBrowsers, openAwayBrowsers } from './away.ts'
import { type Limits, openLimits } from './limits.ts'
import { type Links, linkTable, openLinks } from './links.ts'
import { openProvider, type Provider } from './provider.ts'
import { beginLink, comeBack, goThere, removeLink, showLink, showProvider } from './routes.ts'
import { checkSettings, settings } from './settings.ts'

export default definePlugin({
  name: 'oidc',
  needs: ['fetch', 'user'],
  settings,
  migrations: [linkTable],
  routes: [showProvider, goThere, comeBack, showLink, beginLink, removeLink],
  services(app) {
    const provider = app.settings.oidcIssuer === null ? undefined : openProvider(app)
    return { oidc: { provider, links: openLinks(app), away: openAwayBrowsers(app), limits: openLimits(app.clock) } }
  },
  on: {
    'user.removed':
      ({ oidc }) =>
      ({ id }) =>
        oidc.links.disconnect(id),
  },
  setup: (app) => checkSettings(app.settings),
})

declare module 'archivolt' {
  interface Services {
    oidc: {
      /** The OpenID Connect provider, linked accounts, pending sign-ins, and limits per address. */
      oidc: { provider: Provider | undefined; links: Links; away: AwayBrowsers; limits: Limits }
    }
  }
}
