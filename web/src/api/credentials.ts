// What a call shows: the session of a paired phone is a bearer token, the owner's a cookie and this secret beside it.
export const credentials = (secret: string): Record<string, string> =>
  secret.startsWith('errand_device.') ? { Authorization: `Bearer ${secret}` } : { 'X-Errand-Session': secret };
