/** What people call the platform: the one place that says its name. */
export const PLATFORM = 'YouTube'
