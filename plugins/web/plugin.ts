/** The page that people see: its document under every address, its scripts and pictures. Whatever it does goes through the public API. */
import { definePlugin } from 'archivolt'
import { pageRoutes, showAsset, showIcon, showManifest, showNothing } from './routes.ts'

export default definePlugin({
  name: 'web',
  routes: [...pageRoutes, showNothing, showAsset, showIcon, showManifest],
})
