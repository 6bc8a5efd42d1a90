/** The version of the plugin API, all that a plugin imports and receives; also that of the authors' package. */

/** The value of `api` in a manifest. It changes when plugins made for the previous version no longer fit. */
export const API = 1
/** The second number grows with additions, the third with fixes. */
export const API_VERSION = `${API}.0.0`
/** The authors' package, which plugins import and name in their `peerDependencies`. */
export const API_PACKAGE = '@archivolt/plugin'
/** The keyword that makes an npm package a plugin. */
export const PLUGIN_KEYWORD = 'archivolt-plugin'
