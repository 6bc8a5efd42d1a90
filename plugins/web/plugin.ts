/**
 * The page that people see: its document under every address, its scripts and pictures. It uses only the public API.
 */
import { definePlugin } from 'archivolt'
import { page } from './preferences.ts'
import {
  formerRoutes,
  pageRoutes,
  showAsset,
  showIcon,
  showManifest,
  showNothing,
  showPluginButton,
  showPluginModule,
  showPluginPage,
  showServiceWorker,
} from './routes.ts'

export default definePlugin({
  name: 'web',
  preferences: { page },
  // People who have used an earlier version do not see the welcome after an update.
  migrations: [
    {
      number: 1,
      sql: `INSERT INTO preferences (section, key, value) SELECT 'page', 'welcomed', 'true' WHERE EXISTS (SELECT 1 FROM users)`,
    },
  ],
  routes: [
    ...pageRoutes,
    ...formerRoutes,
    showNothing,
    showAsset,
    showIcon,
    showManifest,
    showServiceWorker,
    showPluginPage,
    showPluginButton,
    showPluginModule,
  ],
})
