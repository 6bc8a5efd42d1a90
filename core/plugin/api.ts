/**
 * The version of the plugin API: all that a plugin may import and is handed. The package for its authors carries it.
 */

/** What `api` of a manifest names. Another one: plugins made for this one no longer fit. */
export const API = 1
/** Its second number: something came. Its third: something was mended. */
export const API_VERSION = `${API}.0.0`
/** The package for authors: what its `peerDependencies` name, and what plugins import. */
export const API_PACKAGE = '@archivolt/plugin'
